// A program with a malloc of its own, under whatever operator new and delete there are: they are to use it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

static unsigned long mallocs, frees;
alignas(16) static char room[1 << 20];
static size_t used;

extern "C" void *malloc(size_t size) noexcept
{
	mallocs++;
	void *block = room + used;
	used += (size + 15) / 16 * 16;
	return used <= sizeof room ? block : nullptr;
}

extern "C" void *calloc(size_t count, size_t size) noexcept
{
	return malloc(count * size);
}

extern "C" void *realloc(void *block, size_t size) noexcept
{
	void *moved = malloc(size);
	return block && moved ? std::memmove(moved, block, size) : moved;
}

extern "C" void free(void *) noexcept
{
	frees++;
}

int main()
{
	unsigned long mallocs_before = mallocs, frees_before = frees;
	delete new int(1);
	delete[] new char[100];
	::operator delete(::operator new(10), static_cast<size_t>(10));
	unsigned long news = mallocs - mallocs_before, deletes = frees - frees_before;
	std::printf("%lu news, %lu deletes\n", news, deletes);
	return 0;
}
