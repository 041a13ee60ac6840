/*
 * A trim of gigabytes takes long, and fork and pools want the lock meanwhile. Who waits for it holds the place in front
 * of it, so that a trim that lets go between two pieces does not get it back before them.
 */
#include "trim_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, place_in_front = PTHREAD_MUTEX_INITIALIZER;

void trim_lock(void)
{
	pthread_mutex_lock(&place_in_front);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&place_in_front);
}

void trim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void trim_unlock_in_child(void)
{
	pthread_mutex_init(&place_in_front, NULL); /* a thread of the parent may have had it */
	trim_unlock();
}

void trim_give_way(void)
{
	trim_unlock();
	trim_lock();
}
