/*
 * A named pool is a class behind the size classes: the same caches, shared pages and statistics, with pages of its own
 * and a name. The model is the kernel's kmem_cache. A class whose pool was destroyed serves the next one that is
 * created.
 *
 * To destroy a pool, its blocks are drained from all caches like in a trim; if one is still out, it is the program's.
 */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "align.h"
#include "drain.h"
#include "init.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"
#include "stats_class.h"
#include "trim_lock.h"

enum { POOL_ALIGN_MAX = 4096, POOL_ALIGN_MIN = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct pool {
	struct qa_pool public; /* first: what the program's pointer points to */
	struct pool_row row;   /* an empty name: no pool */
} pools[QA_POOLS_MAX];

void pool_lock(void)
{
	pthread_mutex_lock(&lock);
}

void pool_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool pool_row(unsigned size_class, struct pool_row *row)
{
	*row = pools[size_class - QA_CLASS_POOL_].row;
	return row->name[0] != '\0';
}

unsigned pool_find(const char *name)
{
	unsigned size_class = 0;
	pool_lock();
	for (unsigned i = 0; i < QA_POOLS_MAX && size_class == 0; i++)
		if (name[0] != '\0' && strcmp(pools[i].row.name, name) == 0)
			size_class = QA_CLASS_POOL_ + i;
	pool_unlock();
	return size_class;
}

/* With the lock held: a free entry; *error says why there is none. */
static struct pool *find_vacant(const char *name, int *error)
{
	struct pool *vacant = NULL;
	*error = ENOSPC;
	for (unsigned i = 0; i < QA_POOLS_MAX; i++) {
		if (strcmp(pools[i].row.name, name) == 0) {
			*error = EEXIST;
			return NULL;
		}
		if (!vacant && pools[i].row.name[0] == '\0')
			vacant = &pools[i];
	}
	return vacant;
}

static unsigned class_of(const struct pool *pool)
{
	return QA_CLASS_POOL_ + (unsigned)(pool - pools);
}

static bool are_valid(const char *name, size_t size, size_t align)
{
	if (!name || name[0] == '\0' || strlen(name) >= QA_CLASS_NAME_SIZE)
		return false;
	return align_is_valid(align) && align <= POOL_ALIGN_MAX && size > 0 && size <= QA_POOL_BLOCK_MAX;
}

struct qa_pool *qa_pool_create(const char *name, size_t size, size_t align)
{
	int error;
	if (!are_valid(name, size, align) || !init_ensure()) {
		errno = EINVAL;
		return NULL;
	}
	pool_lock();
	struct pool *pool = find_vacant(name, &error);
	if (!pool) {
		pool_unlock();
		errno = error;
		return NULL;
	}
	unsigned size_class = class_of(pool);
	struct qa_class_stats before;
	size_t step = align < POOL_ALIGN_MIN ? POOL_ALIGN_MIN : align;
	stats_fill_class(&before, size_class);
	trim_lock(); /* a trim knows the size of the class when it was another pool's */
	size_class_add(size_class, (uint32_t)align_up(size, step));
	shared_init_class(size_class);
	trim_unlock();
	pool->row.allocs_before = before.allocs;
	pool->row.frees_before = before.frees;
	strcpy(pool->row.name, name);
	pool->public.class_ = size_class;
	pool_unlock();
	return &pool->public;
}

int qa_pool_destroy(struct qa_pool *public)
{
	struct pool *pool = (struct pool *)public;
	if (!pool)
		return 0;
	int error = 0;
	pool_lock();
	unsigned size_class = class_of(pool);
	trim_lock();
	bool is_drained = drain_class(size_class, true) == 0;
	shared_release_kept(size_class);
	if (!is_drained || shared_read_counts(size_class).out_blocks > 0) {
		error = -EBUSY;
	} else {
		space_return_empty(size_class, UINT64_MAX);
		space_reassign_empty(size_class, qa_class_of_(size_classes[size_class].block_size));
		memset(pool->row.name, 0, sizeof pool->row.name);
	}
	trim_unlock();
	pool_unlock();
	return error;
}
