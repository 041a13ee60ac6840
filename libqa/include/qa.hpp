/*
 * qa.hpp - libqa for C++11 to C++23: header only, over qa.h; libqa is what a program links.
 *
 *   qa::allocator<T>             for containers, std::allocate_shared and boost::allocate_shared
 *   qa::memory_resource          for std::pmr (C++17); qa::resource() is one that is always there
 *   qa::make_shared<T>(...)      a std::shared_ptr whose control block and object are one block of libqa
 *   qa::make_unique<T>(...)      a std::unique_ptr whose deleter knows the size; T[] as well
 *   qa::pool<T>                  objects with a row and a name of their own in the statistics
 *   qa::allocate_shared<T>(pool, ...)  a std::shared_ptr to an object of a pool
 *
 * Memory out: as operator new does it, the new handler, then std::bad_alloc; std::bad_array_new_length when a number of
 * objects is too large for any block. It is thrown from the C++ library also when the program is compiled with
 * -fno-exceptions, which then ends it. Sizes and alignments are told to libqa on both ways, so an object of 24 bytes
 * costs 24 bytes, and over-aligned types (alignas) need nothing more.
 *
 * All of it may be used from any thread and at any time, also while static objects are destroyed. No name outside of
 * namespace qa but QA_ macros; no function of qa is found by argument-dependent look-up.
 */
#ifndef QA_HPP
#define QA_HPP

#include "qa.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#if __cplusplus >= 201703L && defined(__has_include)
#if __has_include(<memory_resource>)
#include <memory_resource>
#define QA_HAS_MEMORY_RESOURCE 1
#endif
#endif

#pragma GCC visibility push(default)

namespace qa
{

/* Types live here, so that argument-dependent look-up for them finds no function of qa beside one of std or boost. */
namespace types_
{

/* No memory, though the new handler was asked. Without exceptions in the program the C++ library throws its own. */
[[noreturn]] inline __attribute__((cold, noinline)) void throw_bad_alloc()
{
#ifdef __EXCEPTIONS
	throw std::bad_alloc();
#else
	std::size_t too_much = PTRDIFF_MAX;
	__asm__("" : "+r"(too_much)); /* or the compiler warns of it */
	::operator delete(::operator new(too_much));
	std::terminate(); /* a replaced operator new that gave nothing, and threw nothing */
#endif
}

template <class Attempt> __attribute__((cold, noinline)) void *allocate_again(Attempt attempt)
{
	for (;;) {
		std::new_handler handler = std::get_new_handler();
		if (!handler)
			throw_bad_alloc();
		handler();
		if (void *block = attempt())
			return block;
	}
}

inline __attribute__((always_inline)) void *allocate(std::size_t size, std::size_t align)
{
	void *block = qa_alloc(size, align);
	return QA_LIKELY_(block) ? block : allocate_again([=]() { return qa_alloc(size, align); });
}

inline __attribute__((always_inline)) void *allocate(qa_pool *pool)
{
	void *block = qa_pool_alloc(pool);
	return QA_LIKELY_(block) ? block : allocate_again([=]() { return qa_pool_alloc(pool); });
}

/* Of several objects; kept apart, so that the way of a single one stays short. */
template <class T> void *allocate_array(std::size_t count)
{
	if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))
		abi::__cxa_throw_bad_array_new_length();
	return allocate(count * sizeof(T), alignof(T));
}

/* Stateless: all are equal, and each frees what any other has allocated. */
template <class T> class allocator
{
      public:
	typedef T value_type;
	typedef std::size_t size_type;
	typedef std::ptrdiff_t difference_type;
	typedef std::true_type propagate_on_container_move_assignment;
	typedef std::true_type is_always_equal;
	template <class U> struct rebind {
		typedef allocator<U> other;
	};

	constexpr allocator() noexcept {}
	template <class U> constexpr allocator(const allocator<U> &) noexcept {}

	T *allocate(std::size_t count)
	{
		return static_cast<T *>(count == 1 ? types_::allocate(sizeof(T), alignof(T))
						   : types_::allocate_array<T>(count));
	}

	void deallocate(T *objects, std::size_t count) noexcept
	{
		if (count == 1)
			qa_dealloc(objects, sizeof(T), alignof(T));
		else
			qa_dealloc(objects, count * sizeof(T), alignof(T));
	}
};

template <class T, class U> constexpr bool operator==(const allocator<T> &, const allocator<U> &) noexcept
{
	return true;
}

template <class T, class U> constexpr bool operator!=(const allocator<T> &, const allocator<U> &) noexcept
{
	return false;
}

#ifdef QA_HAS_MEMORY_RESOURCE
/* All are equal; with -fno-rtti, which can not tell them from others, each only to itself. */
class memory_resource final : public std::pmr::memory_resource
{
	void *do_allocate(std::size_t size, std::size_t align) override { return types_::allocate(size, align); }

	void do_deallocate(void *block, std::size_t size, std::size_t align) override
	{
		qa_dealloc(block, size, align);
	}

	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
#ifdef __GXX_RTTI
		return dynamic_cast<const memory_resource *>(&other) != nullptr;
#else
		return this == &other;
#endif
	}
};
#endif

/*
 * Frees what was constructed as exactly a T: its size is that of T. So a unique_ptr<derived> does not turn into a
 * unique_ptr<base>.
 */
template <class T> struct deleter {
	void operator()(T *object) const noexcept
	{
		object->~T();
		qa_dealloc(const_cast<typename std::remove_cv<T>::type *>(object), sizeof(T), alignof(T));
	}
};

template <class T> struct deleter<T[]> {
	std::size_t count;

	explicit deleter(std::size_t object_count = 0) noexcept : count(object_count) {}

	void operator()(T *objects) const noexcept
	{
		for (std::size_t i = count; i-- > 0;)
			objects[i].~T();
		allocator<typename std::remove_cv<T>::type>().deallocate(
			const_cast<typename std::remove_cv<T>::type *>(objects), count);
	}
};

/* Objects that are being made: if a constructor throws, those that are there are destroyed and the block goes back. */
template <class T> struct unfinished_array {
	T *objects;
	std::size_t count, made;

	explicit unfinished_array(std::size_t object_count)
	    : objects(allocator<T>().allocate(object_count)), count(object_count), made(0)
	{
	}
	unfinished_array(const unfinished_array &) = delete;
	unfinished_array &operator=(const unfinished_array &) = delete;
	~unfinished_array()
	{
		while (made > 0)
			objects[--made].~T();
		if (objects)
			allocator<T>().deallocate(objects, count);
	}

	T *release() noexcept
	{
		T *finished = objects;
		made = 0;
		objects = nullptr;
		return finished;
	}
};

/* The name of a pool is wrong (EINVAL) or taken (EEXIST), or there are too many (ENOSPC). */
[[noreturn]] inline __attribute__((cold, noinline)) void throw_no_pool(int error, const char *name)
{
#ifdef __EXCEPTIONS
	throw std::system_error(error, std::generic_category(), std::string("qa::pool ") + (name ? name : "(null)"));
#else
	std::fprintf(stderr, "qa::pool %s: %s\n", name ? name : "(null)", std::strerror(error));
	std::abort();
#endif
}

template <class T> struct pool_deleter {
	qa_pool *pool;

	void operator()(T *object) const noexcept
	{
		object->~T();
		qa_pool_free(pool, object);
	}
};

/*
 * A named pool (qa.h: qa_pool_create) of objects of one type. It moves, and does not copy; one that was moved from, or
 * closed, is empty and makes no objects.
 *
 * Objects may outlive it: a pool that is destroyed while some are alive leaves them, and the pool of libqa with its
 * name and its row in the statistics, as they are; what was made by it can still be freed. So static objects may be
 * destroyed in any order. close() says whether that was so.
 */
template <class T> class pool
{
	static_assert(sizeof(T) <= QA_POOL_BLOCK_MAX, "objects of a pool have at most QA_POOL_BLOCK_MAX bytes");
	static_assert(alignof(T) <= 4096, "objects of a pool are aligned to at most 4096");

      public:
	typedef T value_type;
	typedef std::unique_ptr<T, pool_deleter<T>> unique_ptr;

	/* Throws std::system_error: EINVAL, EEXIST, ENOSPC as qa_pool_create. With -fno-exceptions it terminates. */
	explicit pool(const char *name) : pool_(qa_pool_create(name, sizeof(T), alignof(T)))
	{
		if (!pool_)
			throw_no_pool(errno, name);
	}
	/* Empty instead, and errno says why. */
	pool(const char *name, const std::nothrow_t &) noexcept : pool_(qa_pool_create(name, sizeof(T), alignof(T))) {}
	pool(pool &&other) noexcept : pool_(other.pool_) { other.pool_ = nullptr; }
	pool &operator=(pool &&other) noexcept
	{
		pool taken(std::move(other));
		std::swap(pool_, taken.pool_);
		return *this;
	}
	~pool() { close(); }

	/* 0, and the pool is empty; or -EBUSY and nothing changed, when objects are alive (or see qa_pool_destroy). */
	int close() noexcept
	{
		int status = qa_pool_destroy(pool_);
		if (status == 0)
			pool_ = nullptr;
		return status;
	}

	qa_pool *get() const noexcept { return pool_; }
	explicit operator bool() const noexcept { return pool_ != nullptr; }

	/* Room for one object, without one in it. */
	T *allocate() { return static_cast<T *>(types_::allocate(pool_)); }
	void deallocate(T *room) noexcept { qa_pool_free(pool_, room); }

	template <class... Arguments> T *construct(Arguments &&...arguments)
	{
		std::unique_ptr<void, room_deleter> room(types_::allocate(pool_), room_deleter{pool_});
		T *object = ::new (room.get()) T(std::forward<Arguments>(arguments)...);
		room.release();
		return object;
	}
	void destroy(T *object) noexcept
	{
		if (object)
			pool_deleter<T>{pool_}(object);
	}

	template <class... Arguments> unique_ptr make_unique(Arguments &&...arguments)
	{
		return unique_ptr(construct(std::forward<Arguments>(arguments)...), pool_deleter<T>{pool_});
	}

      private:
	struct room_deleter {
		qa_pool *pool;
		void operator()(void *room) const noexcept { qa_pool_free(pool, room); }
	};

	qa_pool *pool_;
};

} // namespace types_

using types_::allocator;
using types_::deleter;
using types_::pool;
using types_::pool_deleter;

template <class T> using unique_ptr = std::unique_ptr<T, deleter<T>>;

#ifdef QA_HAS_MEMORY_RESOURCE
using types_::memory_resource;

/* One that is never destroyed. */
inline memory_resource *resource() noexcept
{
	alignas(memory_resource) static unsigned char place[sizeof(memory_resource)];
	static memory_resource *const one = ::new (static_cast<void *>(place)) memory_resource;
	return one;
}
#endif

template <class T, class... Arguments> std::shared_ptr<T> make_shared(Arguments &&...arguments)
{
	typedef typename std::remove_cv<typename std::remove_all_extents<T>::type>::type object;
	return std::allocate_shared<T>(allocator<object>(), std::forward<Arguments>(arguments)...);
}

/* The object from the pool, the control block from libqa. It may outlive the pool. */
template <class T, class... Arguments> std::shared_ptr<T> allocate_shared(pool<T> &objects, Arguments &&...arguments)
{
	typename pool<T>::unique_ptr object = objects.make_unique(std::forward<Arguments>(arguments)...);
	pool_deleter<T> free_object = object.get_deleter();
	return std::shared_ptr<T>(object.release(), free_object, allocator<T>());
}

template <class T, class... Arguments>
typename std::enable_if<!std::is_array<T>::value, unique_ptr<T>>::type make_unique(Arguments &&...arguments)
{
	types_::unfinished_array<typename std::remove_cv<T>::type> room(1);
	T *object = ::new (static_cast<void *>(room.objects)) T(std::forward<Arguments>(arguments)...);
	room.release();
	return unique_ptr<T>(object);
}

/* An array of that many objects, each initialised as T(). */
template <class T>
typename std::enable_if<std::is_array<T>::value && std::extent<T>::value == 0, unique_ptr<T>>::type
make_unique(std::size_t count)
{
	typedef typename std::remove_cv<typename std::remove_extent<T>::type>::type object;
	types_::unfinished_array<object> room(count);
	for (; room.made < count; room.made++)
		::new (static_cast<void *>(room.objects + room.made)) object();
	return unique_ptr<T>(room.release(), deleter<T>(count));
}

} // namespace qa

#pragma GCC visibility pop
#endif
