/*
 * Everything that libqa asks of Linux for its memory. Addresses are aligned by mapping more and cutting the ends off.
 * Memory is returned with MADV_DONTNEED and not MADV_FREE, so that the resident size falls at once and visibly.
 * Returned memory is never assumed to read as zero: emulators ignore the advice.
 */
#include "os.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool has_barrier;

size_t os_page_bytes(void)
{
	static atomic_size_t page_bytes;
	size_t bytes = atomic_load_explicit(&page_bytes, memory_order_relaxed);
	if (bytes == 0) {
		bytes = (size_t)sysconf(_SC_PAGESIZE);
		atomic_store_explicit(&page_bytes, bytes, memory_order_relaxed);
	}
	return bytes;
}

static void *map(size_t size_bytes)
{
	void *address = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (address == MAP_FAILED) {
		errno = ENOMEM;
		return NULL;
	}
	return address;
}

void *os_map(size_t size_bytes, size_t align_bytes)
{
	char *address = map(size_bytes);
	if (!address || ((uintptr_t)address & (align_bytes - 1)) == 0)
		return address;
	munmap(address, size_bytes);
	if (size_bytes + align_bytes < size_bytes) {
		errno = ENOMEM;
		return NULL;
	}
	address = map(size_bytes + align_bytes);
	if (!address)
		return NULL;
	char *aligned = (char *)(((uintptr_t)address + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1));
	size_t before = (size_t)(aligned - address);
	if (before > 0)
		munmap(address, before);
	if (align_bytes - before > 0)
		munmap(aligned + size_bytes, align_bytes - before);
	return aligned;
}

bool os_unmap(void *address, size_t size_bytes)
{
	int saved = errno;
	bool unmapped = munmap(address, size_bytes) == 0;
	if (!unmapped)
		os_return(address, size_bytes);
	errno = saved;
	return unmapped;
}

bool os_return(void *address, size_t size_bytes)
{
	int saved = errno;
	int result;
	do
		result = madvise(address, size_bytes, MADV_DONTNEED);
	while (result != 0 && errno == EAGAIN);
	errno = saved;
	return result == 0;
}

bool os_resize(void *address, size_t old_bytes, size_t new_bytes)
{
	int saved = errno;
	bool resized = mremap(address, old_bytes, new_bytes, 0) != MAP_FAILED;
	errno = saved;
	return resized;
}

bool os_move(void *address, size_t old_bytes, void *target, size_t new_bytes)
{
	int saved = errno;
	bool moved = mremap(address, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != MAP_FAILED;
	errno = saved;
	return moved;
}

static long membarrier(int command)
{
	int saved = errno;
	long result = syscall(SYS_membarrier, command, 0, 0);
	errno = saved;
	return result;
}

void os_barrier_init(void)
{
	bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
	atomic_store_explicit(&has_barrier, registered, memory_order_relaxed);
}

bool os_has_barrier(void)
{
	return atomic_load_explicit(&has_barrier, memory_order_relaxed);
}

bool os_barrier(void)
{
	if (os_has_barrier() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return true;
	atomic_store_explicit(&has_barrier, false, memory_order_relaxed);
	return false;
}

uint64_t os_clock_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
