/* Boost's fast_pool_allocator with its default mutex. C++. */
#include <boost/pool/pool_alloc.hpp>

template <size_t size> struct boost_block {
	alignas(8) char bytes[size];
};

#define ADAPTER_ALLOC(size) boost::fast_pool_allocator<boost_block<size>>::allocate()
#define ADAPTER_FREE(block, size) \
	boost::fast_pool_allocator<boost_block<size>>::deallocate((boost_block<size> *)(block))
