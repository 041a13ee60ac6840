/*
 * Takes the place of Boost's header of this name, found by an include path (pkg-config libqa-boost) that comes before
 * Boost's own: a program built with BOOST_SP_USE_QUICK_ALLOCATOR has the control blocks of its boost::shared_ptr from
 * libqa, without a change of its source. The interface is that of the original; none of its code is here.
 *
 * A control block has exactly the class of its size: the 24 bytes of the usual one cost 24 bytes, and are the row of 24
 * in `qactl stats`. There is no state, so nothing that could be destroyed too early: static objects may hold shared_ptr
 * to the very end, in any order, and in libraries that are unloaded.
 *
 * One program should be compiled with one of the two headers throughout. BOOST_QA_PAGE_SIZE means nothing here; see
 * QA_PAGE_SIZE. C++98 and later, as Boost.
 */
#ifndef BOOST_SMART_PTR_DETAIL_QUICK_ALLOCATOR_HPP_INCLUDED
#define BOOST_SMART_PTR_DETAIL_QUICK_ALLOCATOR_HPP_INCLUDED

#include "../../../../qa.h"

#include <cstddef>
#include <new>

/* Told to who wants to know which of the two headers this is. */
#define QA_BOOST_QUICK_ALLOCATOR 1

namespace boost
{
namespace detail
{

template <unsigned Size, unsigned Align> struct allocator_impl {
	static inline void *alloc() { return qa_check_(qa_alloc(Size, Align), Size); }

	static inline void dealloc(void *block) { qa_dealloc(block, Size, Align); }

	/* Another size is that of a derived class, which has inherited operator new. */
	static inline void *alloc(std::size_t n)
	{
		return n == Size ? alloc() : qa_check_(qa_alloc(n, qa_derived_align_), n);
	}

	static inline void dealloc(void *block, std::size_t n)
	{
		if (n == Size)
			dealloc(block);
		else
			qa_dealloc(block, n, qa_derived_align_);
	}

      private:
	enum { qa_derived_align_ = Align > 16 ? Align : 16 };

	static inline __attribute__((always_inline)) void *qa_check_(void *block, std::size_t n)
	{
		return QA_LIKELY_(block) ? block : qa_again_(n);
	}

	static std::new_handler qa_handler_()
	{
#if __cplusplus >= 201103L
		return std::get_new_handler();
#else
		std::new_handler current = std::set_new_handler(0);
		std::set_new_handler(current);
		return current;
#endif
	}

	/* No memory: what operator new does. Without exceptions in the program the C++ library throws its own. */
	static __attribute__((cold, noinline)) void *qa_again_(std::size_t n)
	{
		while (std::new_handler ask = qa_handler_()) {
			ask();
			if (void *block = qa_alloc(n, n == Size ? Align : qa_derived_align_))
				return block;
		}
#ifdef __EXCEPTIONS
		throw std::bad_alloc();
#else
		std::size_t too_much = PTRDIFF_MAX;
		__asm__("" : "+r"(too_much)); /* or the compiler warns of it */
		return ::operator new(too_much);
#endif
	}
};

template <class T> struct quick_allocator : allocator_impl<sizeof(T), __alignof__(T)> {
};

} // namespace detail
} // namespace boost

#endif
