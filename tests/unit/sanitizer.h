/*
 * sanitizer.h - whether this is a build with a sanitizer, and how often to do something in it.
 */
#ifndef SANITIZER_H
#define SANITIZER_H

#if defined(__has_feature)
#define SANITIZER_HAS_FEATURE(name) __has_feature(name)
#else
#define SANITIZER_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || SANITIZER_HAS_FEATURE(thread_sanitizer)
#define SANITIZED_TSAN 1
#else
#define SANITIZED_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SANITIZER_HAS_FEATURE(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED SANITIZED_TSAN
#endif

/* How often: plain, and in a build with a sanitizer, where everything takes some ten times as long. */
#define TIMES(plain, sanitized) (SANITIZED ? (sanitized) : (plain))

#endif
