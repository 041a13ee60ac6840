/*
 * test.h - cmocka and the headers that it needs first.
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sanitizer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
