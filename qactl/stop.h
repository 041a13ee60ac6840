/*
 * stop.h - Ctrl-C and SIGTERM as an event that a wait can see, so that an output ends between two lines.
 */
#ifndef QACTL_STOP_H
#define QACTL_STOP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From now on the two do not end the process, but make this descriptor readable for good. One that the process was
 * started to ignore stays ignored. -1 when there is none to be had; then they end the process as ever.
 */
int stop_open(void);

/* Sleeps until the descriptor is readable (true) or so many milliseconds have passed. */
bool stop_wait(int stop_fd, uint64_t wait_ms);

#endif
