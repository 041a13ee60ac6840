/*
 * Every form of operator new and delete, and what they do when memory is out: prints lines that do not depend on the
 * allocator. With REPLACED the program has an operator new of its own, which puts a word before each block: every form
 * must lead to it. As -DREPLACED and not, on glibc's malloc and on libqa_malloc.so: test_malloc.py compares.
 */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

static unsigned long news, deletes;

#ifdef REPLACED
void *operator new(std::size_t size)
{
	char *block = size > PTRDIFF_MAX ? nullptr : static_cast<char *>(std::malloc(size + 16));
	if (!block)
		throw std::bad_alloc();
	news++;
	return block + 16;
}

void operator delete(void *block) noexcept
{
	if (!block)
		return;
	deletes++;
	std::free(static_cast<char *>(block) - 16);
}
#endif

template <class T> static T hide(T value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static void *use(void *block, std::size_t size, std::size_t align)
{
	std::memset(hide(block), 0x5a, size);
	if (reinterpret_cast<std::uintptr_t>(block) % align != 0)
		std::printf("a block is not aligned to %zu\n", align);
	return hide(block);
}

static void forms(std::size_t size)
{
	::operator delete(use(::operator new(size), size, 16));
	::operator delete(use(::operator new(size), size, 16), size);
	::operator delete(use(::operator new(size, std::nothrow), size, 16), std::nothrow);
	::operator delete[](use(::operator new[](size), size, 16));
	::operator delete[](use(::operator new[](size), size, 16), size);
	::operator delete[](use(::operator new[](size, std::nothrow), size, 16), std::nothrow);
	for (std::size_t align = 8; align <= 8192; align *= 4) {
		std::align_val_t to{align};
		::operator delete(use(::operator new(size, to), size, align), to);
		::operator delete(use(::operator new(size, to), size, align), size, to);
		::operator delete(use(::operator new(size, to, std::nothrow), size, align), to, std::nothrow);
		::operator delete[](use(::operator new[](size, to), size, align), to);
		::operator delete[](use(::operator new[](size, to), size, align), size, to);
		::operator delete[](use(::operator new[](size, to, std::nothrow), size, align), to, std::nothrow);
	}
	::operator delete(hide<void *>(nullptr));
	::operator delete(hide<void *>(nullptr), size);
	::operator delete[](hide<void *>(nullptr), std::align_val_t{64});
}

static int handled;

static void give_up_at_the_third()
{
	if (++handled == 3)
		std::set_new_handler(nullptr);
}

struct other_exception {
};

static void throw_another()
{
	throw other_exception();
}

static void throw_bad_alloc()
{
	throw std::bad_alloc();
}

template <class F> static void attempt(const char *what, F get)
{
	handled = 0;
	try {
		void *block = hide(get());
		std::printf("%s: %s", what, block ? "a block" : "NULL");
	} catch (const std::bad_alloc &) {
		std::printf("%s: bad_alloc", what);
	} catch (const other_exception &) {
		std::printf("%s: another exception", what);
	}
	std::printf(", %d calls of the handler\n", handled);
	std::set_new_handler(nullptr);
}

static void out_of_memory(const char *handler_name, std::new_handler handler)
{
	const std::size_t size = hide<std::size_t>(PTRDIFF_MAX);
	const std::align_val_t to{64};
	std::printf("handler %s\n", handler_name);
	auto with_handler = [handler](auto get) {
		return [handler, get] {
			std::set_new_handler(handler);
			return get();
		};
	};
	attempt("new", with_handler([&] { return ::operator new(size); }));
	attempt("new[]", with_handler([&] { return ::operator new[](size); }));
	attempt("new, aligned", with_handler([&] { return ::operator new(size, to); }));
	attempt("new[], aligned", with_handler([&] { return ::operator new[](size, to); }));
	if (handler == throw_another)
		return; /* not allowed with nothrow */
	attempt("new, nothrow", with_handler([&] { return ::operator new(size, std::nothrow); }));
	attempt("new[], nothrow", with_handler([&] { return ::operator new[](size, std::nothrow); }));
	attempt("new, aligned, nothrow", with_handler([&] { return ::operator new(size, to, std::nothrow); }));
	attempt("new[], aligned, nothrow", with_handler([&] { return ::operator new[](size, to, std::nothrow); }));
}

int main()
{
	static const std::size_t sizes[] = {0, 1, 24, 100, 1000, 5000, 40000, 3000000};
	for (std::size_t size : sizes)
		forms(size);
	std::printf("replaced: %lu news, %lu deletes\n", news, deletes);
	out_of_memory("none", nullptr);
	out_of_memory("gives up at the third call", give_up_at_the_third);
	out_of_memory("throws bad_alloc", throw_bad_alloc);
	out_of_memory("throws another exception", throw_another);
	return 0;
}
