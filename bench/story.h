/*
 * The ways to come by memory for a document, chosen by macros when story.cc is compiled:
 *
 *   (none)                          an object by new, its control block by new
 *   BOOST_SP_USE_QUICK_ALLOCATOR    the control block from whichever quick_allocator.hpp is found first
 *   STORY_ONE_BLOCK                 boost::make_shared: object and control block are one block, by new
 *   STORY_LIBQA                     the same by boost::allocate_shared with qa::allocator
 */
#ifndef BENCH_STORY_H
#define BENCH_STORY_H

#include <boost/make_shared.hpp>
#include <boost/shared_ptr.hpp>

#include <memory>

#if defined(STORY_LIBQA)
#include <qa.hpp>
#define STORY_ALLOCATOR qa::allocator
#define STORY_MAKE(type) boost::allocate_shared<type>(qa::allocator<type>())
#else
#define STORY_ALLOCATOR std::allocator
#if defined(STORY_ONE_BLOCK)
#define STORY_MAKE(type) boost::make_shared<type>()
#else
#define STORY_MAKE(type) boost::shared_ptr<type>(new type)
#endif
#endif

/* What libqa holds goes back, where this program is on it by its own doing. */
static inline void story_trim()
{
#ifdef QA_H
	qa_trim(nullptr, nullptr);
#endif
}

#endif
