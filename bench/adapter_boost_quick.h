/* Boost's quick_allocator, which boost::shared_ptr uses for its control blocks when it is told to. C++. */
#include <boost/smart_ptr/detail/quick_allocator.hpp>

template <size_t size> struct boost_block {
	alignas(8) char bytes[size];
};

#define ADAPTER_ALLOC(size) boost::detail::quick_allocator<boost_block<size>>::alloc()
#define ADAPTER_FREE(block, size) boost::detail::quick_allocator<boost_block<size>>::dealloc(block)
