/*
 * The ways to come by memory for a document, chosen by macros when story.cc is compiled:
 *
 *   (none)                          boost::shared_ptr: an object by new, its control block by new
 *   BOOST_SP_USE_QUICK_ALLOCATOR    the control block from whichever quick_allocator.hpp is found first
 *   STORY_ONE_BLOCK                 std::make_shared: object and control block are one block, by new
 *   STORY_LIBQA                     qa::make_shared, which is std::allocate_shared with qa::allocator
 *   STORY_LIBQA_BOOST               boost::allocate_shared with qa::allocator
 */
#ifndef BENCH_STORY_H
#define BENCH_STORY_H

#include <memory>

#if defined(STORY_LIBQA) || defined(STORY_LIBQA_BOOST)
#include <qa.hpp>
template <class T> using story_allocator = qa::allocator<T>;
#else
template <class T> using story_allocator = std::allocator<T>;
#endif

#if defined(STORY_ONE_BLOCK) || defined(STORY_LIBQA)
template <class T> using story_pointer = std::shared_ptr<T>;
#else
#include <boost/make_shared.hpp>
#include <boost/shared_ptr.hpp>
template <class T> using story_pointer = boost::shared_ptr<T>;
#endif

template <class T> story_pointer<T> story_make()
{
#if defined(STORY_LIBQA)
	return qa::make_shared<T>();
#elif defined(STORY_LIBQA_BOOST)
	return boost::allocate_shared<T>(qa::allocator<T>());
#elif defined(STORY_ONE_BLOCK)
	return std::make_shared<T>();
#else
	return story_pointer<T>(new T);
#endif
}

/* What libqa holds goes back, where this program is on it by its own doing. */
static inline void story_trim()
{
#ifdef QA_H
	qa_trim(nullptr, nullptr);
#endif
}

#endif
