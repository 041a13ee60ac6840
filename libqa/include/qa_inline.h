/*
 * qa_inline.h - the inline half of qa.h. Include qa.h; nothing here is to be named by a program (names end in _).
 *
 * A thread's heap has, per class, a list of free blocks linked through their first word. The thread takes from and
 * gives to it with plain loads and stores, between two stores to the list's busy (a biased lock, libqa/heap.h):
 *
 *   owner:    busy = 1; (compiler fence)   if (stop) leave it alone; ... ; busy = 0 (release)
 *   drainer:  stop = 1; membarrier;        wait until busy == 0 (acquire); take the list; stop = 0 (release)
 *
 * A list has
 *
 *   blocks = capacity - room
 *
 * and an allocation writes room and allocs, a free only room. Capacity changes as batches come and go; with the blocks
 * that came so, the statistics also know the frees (libqa/heap.h).
 */
#ifndef QA_INLINE_H
#define QA_INLINE_H

#define QA_INLINE_MAX 1024 /* the largest size that is served inline */
#define QA_CLASSES_ 80     /* 8, 16 ... 128, then eight a doubling up to 32 KiB */
#define QA_POOLS_MAX 160   /* named pools at one time: classes are numbered in a byte */
/*
 * Classes have numbers from 1: the size classes, then the pools. 0 is what is not ours, and behind the last is large:
 * neither has ever room in a cache, so that a free of either leaves the fast path like that of a full one.
 */
#define QA_CLASS_NONE_ 0
#define QA_CLASS_POOL_ (QA_CLASSES_ + 1)
#define QA_CLASS_LARGE_ (QA_CLASS_POOL_ + QA_POOLS_MAX)
#define QA_CACHES_ (QA_CLASS_LARGE_ + 1)

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QA_TSAN_
#endif
#endif

#define QA_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#define QA_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

struct qa_cache_ {
	void *head; /* touched between busy = 1 and busy = 0, or by a drainer that holds the heap; so are the next */
	uint64_t allocs;  /* since the heap was made */
	int32_t room;     /* blocks that may still be put on the list */
	int32_t capacity; /* 0 at first */
	/*
	 * Owner writes; pairs with the drainer's membarrier between its store to stop and its load here. It lies with
	 * the others, which costs less than one word for the whole heap.
	 */
	uint32_t busy;
	uint32_t stop; /* drainer writes; only that of class 0 counts, for the whole heap */
};

struct qa_heap_ {
	struct qa_cache_ caches[QA_CACHES_]; /* by class; class 0 has no list */
};

/* This thread's heap; at first, and after the thread's end, one shared heap that is always empty and always full. */
extern __thread struct qa_heap_ *qa_heap_ __attribute__((tls_model("initial-exec")));

void *qa_alloc_slow_(unsigned size_class) __attribute__((cold));
void qa_dealloc_slow_(void *block, unsigned size_class) __attribute__((cold));
QA_NOPLT_ void *qa_alloc_packed_(size_t size);
QA_NOPLT_ void qa_dealloc_packed_(void *block, size_t size);
void *qa_alloc_any_(size_t size, size_t align);
void qa_dealloc_any_(void *block, size_t size, size_t align);

/*
 * The class of a size above 0 and at most 32 KiB. With e the exponent of the doubling that size - 1 is in, its eight
 * classes are 8, 9 ... 15 times 2^(e-3), exclusive; the first 16 classes are the multiples of 8 up to 128.
 */
static inline __attribute__((always_inline)) unsigned qa_class_of_(size_t size)
{
	if (size <= 128)
		return (unsigned)((size + 7) / 8);
	unsigned exponent = 63u - (unsigned)__builtin_clzll((unsigned long long)size - 1);
	return 17 + (exponent - 7) * 8 + (unsigned)((size - 1) >> (exponent - 3)) - 8;
}

/*
 * The size to look the class up for. A multiple of the alignment has a class whose block size is one too: classes are
 * multiples of an eighth of their doubling, so of every power of two up to it, and a multiple of a larger power of two
 * is itself a class.
 */
static inline __attribute__((always_inline)) size_t qa_class_size_(size_t size, size_t align)
{
	size_t step = align < 8 ? 8 : align;
	return size == 0 ? step : (size + step - 1) & ~(step - 1);
}

/*
 * The counters are written by one thread at a time and read by others, never half-written: a relaxed load and store
 * each, or the one instruction that x86 has for both. ThreadSanitizer gets to see the former.
 */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(QA_TSAN_)
static inline __attribute__((always_inline)) void qa_count_(uint64_t *counter)
{
	__asm__ volatile("incq %0" : "+m"(*counter) : : "cc");
}

static inline __attribute__((always_inline)) void qa_give_room_(int32_t *room)
{
	__asm__ volatile("incl %0" : "+m"(*room) : : "cc");
}

/* False, and nothing changed, when there is none. */
static inline __attribute__((always_inline)) bool qa_take_room_(int32_t *room)
{
	bool is_none;
	__asm__ volatile("decl %1" : "=@ccs"(is_none), "+m"(*room));
	if (QA_LIKELY_(!is_none))
		return true;
	qa_give_room_(room);
	return false;
}
#else
static inline __attribute__((always_inline)) void qa_count_(uint64_t *counter)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) void qa_give_room_(int32_t *room)
{
	__atomic_store_n(room, __atomic_load_n(room, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) bool qa_take_room_(int32_t *room)
{
	int32_t left = __atomic_load_n(room, __ATOMIC_RELAXED) - 1;
	if (QA_UNLIKELY_(left < 0))
		return false;
	__atomic_store_n(room, left, __ATOMIC_RELAXED);
	return true;
}
#endif

/* What statistics cost: one instruction an allocation. Left out only to measure that (meson -Dstats=false). */
#ifdef QA_NO_STATS
#define QA_HAS_STATS_ 0
#else
#define QA_HAS_STATS_ 1
#endif
#define QA_COUNT_(counter) ((void)(QA_HAS_STATS_ ? qa_count_(counter) : (void)0))

/* One register for the cache, where the compiler would compute the address of each member anew. */
static inline __attribute__((always_inline)) struct qa_cache_ *qa_cache_of_(struct qa_heap_ *heap, unsigned size_class)
{
	struct qa_cache_ *cache = &heap->caches[size_class];
	if (!__builtin_constant_p(size_class))
		__asm__("" : "+r"(cache));
	return cache;
}

static inline __attribute__((always_inline)) void *qa_alloc_class_(unsigned size_class)
{
	struct qa_heap_ *heap = qa_heap_;
	struct qa_cache_ *cache = qa_cache_of_(heap, size_class);
	__atomic_store_n(&cache->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (QA_LIKELY_(__atomic_load_n(&heap->caches[0].stop, __ATOMIC_ACQUIRE) == 0)) {
		void *block = cache->head;
		if (QA_LIKELY_(block)) {
			void *next = *(void **)block;
			if (!__builtin_constant_p(size_class)) /* inline it costs more than it brings */
				__builtin_prefetch(next, 1);
			cache->head = next;
			qa_give_room_(&cache->room);
			QA_COUNT_(&cache->allocs);
			__atomic_store_n(&cache->busy, 0u, __ATOMIC_RELEASE);
			return block;
		}
	}
	__atomic_store_n(&cache->busy, 0u, __ATOMIC_RELEASE);
	return qa_alloc_slow_(size_class);
}

static inline __attribute__((always_inline)) void qa_dealloc_class_(void *block, unsigned size_class)
{
	struct qa_heap_ *heap = qa_heap_;
	struct qa_cache_ *cache = qa_cache_of_(heap, size_class);
	__atomic_store_n(&cache->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (QA_LIKELY_(__atomic_load_n(&heap->caches[0].stop, __ATOMIC_ACQUIRE) == 0)) {
		void *head = cache->head;
		if (QA_LIKELY_(head != block && qa_take_room_(&cache->room))) { /* equal: freed twice */
			*(void **)block = head;
			cache->head = block;
			__atomic_store_n(&cache->busy, 0u, __ATOMIC_RELEASE);
			return;
		}
	}
	__atomic_store_n(&cache->busy, 0u, __ATOMIC_RELEASE);
	qa_dealloc_slow_(block, size_class);
}

#define QA_IS_INLINE_(size, align)                                                                              \
	(__builtin_constant_p(size) && __builtin_constant_p(align) && (size) <= QA_INLINE_MAX && (align) > 0 && \
	 (align) <= QA_INLINE_MAX && ((align) & ((align)-1)) == 0)

/* A size that is not constant, an alignment that is: 8 or less, or the malloc family's. */
#define QA_IS_PACKED_(align) \
	(__builtin_constant_p(align) && ((align) == 1 || (align) == 2 || (align) == 4 || (align) == 8))
#define QA_IS_16_(align) (__builtin_constant_p(align) && (align) == 16)

static inline __attribute__((always_inline)) void *qa_alloc(size_t size, size_t align)
{
	if (QA_IS_INLINE_(size, align))
		return qa_alloc_class_(qa_class_of_(qa_class_size_(size, align)));
	if (QA_IS_PACKED_(align))
		return qa_alloc_packed_(size);
	if (QA_IS_16_(align))
		return qa_malloc(size);
	return qa_alloc_any_(size, align);
}

static inline __attribute__((always_inline)) void qa_dealloc(void *block, size_t size, size_t align)
{
	if (QA_IS_INLINE_(size, align)) {
		if (block)
			qa_dealloc_class_(block, qa_class_of_(qa_class_size_(size, align)));
	} else if (QA_IS_PACKED_(align)) {
		qa_dealloc_packed_(block, size);
	} else if (QA_IS_16_(align)) {
		qa_free_sized(block, size);
	} else {
		qa_dealloc_any_(block, size, align);
	}
}

static inline __attribute__((always_inline)) void *qa_pool_alloc(struct qa_pool *pool)
{
	return qa_alloc_class_(pool->class_);
}

static inline __attribute__((always_inline)) void qa_pool_free(struct qa_pool *pool, void *block)
{
	if (block)
		qa_dealloc_class_(block, pool->class_);
}

#endif
