/*
 * A library to be preloaded: the wall clock of this one program is off by as many seconds as the file of CLOCK_JUMP
 * says (a 64-bit integer, that the test changes at any time). Other clocks are left as they are.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_s;

__attribute__((constructor)) static void map_offset(void)
{
	int fd = open(getenv("CLOCK_JUMP"), O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, sizeof(*offset_s), PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	if (mapped == MAP_FAILED)
		abort();
	offset_s = mapped;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
	int error = (int)syscall(SYS_clock_gettime, clock, now);

	if (error == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && offset_s != NULL)
		now->tv_sec += *offset_s;
	return error;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec exact;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *now)
{
	struct timespec exact;

	clock_gettime(CLOCK_REALTIME, &exact);
	if (now != NULL)
		*now = exact.tv_sec;
	return exact.tv_sec;
}
