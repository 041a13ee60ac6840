/*
 * qa_inline.h - the inline half of qa.h. Include qa.h; nothing here is to be named by a program (names end in _).
 *
 * A thread's heap has, per size class, a list of free blocks linked through their first word. The thread takes from and
 * gives to it with plain loads and stores, between two stores to busy (DESIGN: a biased lock, libqa/heap.h):
 *
 *   owner:    busy = 1; (compiler fence)   if (stop) leave it alone; ... ; busy = 0 (release)
 *   drainer:  stop = 1; membarrier;        wait until busy == 0 (acquire); take the lists; stop = 0 (release)
 *
 * How many blocks a list has is not stored. With loaded = blocks that came in batches less those that left so, and
 * capacity = the most that the list may have,
 *
 *   blocks = loaded + frees - allocs,   room = capacity - loaded,   so it is full when   frees - allocs >= room
 *
 * and both an allocation and a free write one counter only, which the statistics read as they are.
 */
#ifndef QA_INLINE_H
#define QA_INLINE_H

#define QA_INLINE_MAX 1024 /* the largest size that is served inline */
#define QA_CLASSES_ 48     /* 8, 16 ... 128, then four a doubling up to 32 KiB */
#define QA_POOLS_MAX 200   /* named pools at one time */
#define QA_CACHES_ (QA_CLASSES_ + QA_POOLS_MAX)
#define QA_CLASS_NONE_ QA_CACHES_ /* neither: a run from the OS */

#define QA_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#define QA_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

struct qa_cache_ {
	void *head;             /* written between busy = 1 and busy = 0, or by a drainer that holds the heap */
	uint64_t allocs, frees; /* owner writes, relaxed; statistics read */
	int64_t room;           /* as above; also changes when batches come and go */
};

struct qa_heap_ {
	uint32_t busy; /* owner writes; pairs with the drainer's membarrier between its store to stop and its load of
			  busy */
	uint32_t stop; /* drainer writes; while 1 the owner goes to the shared pages */
	uint64_t pad[7];
	struct qa_cache_ caches[QA_CACHES_]; /* the size classes', then the pools' */
};

/* This thread's heap; at first, and after the thread's end, one shared heap that is always empty and always full. */
extern __thread struct qa_heap_ *qa_heap_ __attribute__((tls_model("initial-exec")));

void *qa_alloc_slow_(unsigned size_class) __attribute__((cold));
void qa_dealloc_slow_(void *block, unsigned size_class) __attribute__((cold));
void *qa_alloc_any_(size_t size, size_t align);
void qa_dealloc_any_(void *block, size_t size, size_t align);

/*
 * The class of a size above 0 and at most 32 KiB. With e the exponent of the doubling that size - 1 is in, its four
 * classes are 4, 5, 6, 7 times 2^(e-2), exclusive; the first 16 classes are the multiples of 8 up to 128.
 */
static inline __attribute__((always_inline)) unsigned qa_class_of_(size_t size)
{
	if (size <= 128)
		return (unsigned)((size + 7) / 8) - 1;
	unsigned exponent = 63u - (unsigned)__builtin_clzll((unsigned long long)size - 1);
	return 16 + (exponent - 7) * 4 + (unsigned)((size - 1) >> (exponent - 2)) - 4;
}

/*
 * The size to look the class up for. A multiple of the alignment has a class whose block size is one too: classes are
 * multiples of a quarter of their doubling, so of every power of two up to it, and a multiple of a larger power of two
 * is itself a class.
 */
static inline __attribute__((always_inline)) size_t qa_class_size_(size_t size, size_t align)
{
	size_t step = align < 8 ? 8 : align;
	return size == 0 ? step : (size + step - 1) & ~(step - 1);
}

static inline __attribute__((always_inline)) void *qa_alloc_class_(unsigned size_class)
{
	struct qa_heap_ *heap = qa_heap_;
	struct qa_cache_ *cache = &heap->caches[size_class];
	__atomic_store_n(&heap->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	void *block = 0;
	if (QA_LIKELY_(__atomic_load_n(&heap->stop, __ATOMIC_ACQUIRE) == 0))
		block = cache->head;
	if (QA_UNLIKELY_(!block)) {
		__atomic_store_n(&heap->busy, 0u, __ATOMIC_RELEASE);
		return qa_alloc_slow_(size_class);
	}
	cache->head = *(void **)block;
	__atomic_store_n(&cache->allocs, __atomic_load_n(&cache->allocs, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&heap->busy, 0u, __ATOMIC_RELEASE);
	return block;
}

static inline __attribute__((always_inline)) void qa_dealloc_class_(void *block, unsigned size_class)
{
	struct qa_heap_ *heap = qa_heap_;
	struct qa_cache_ *cache = &heap->caches[size_class];
	__atomic_store_n(&heap->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (QA_LIKELY_(__atomic_load_n(&heap->stop, __ATOMIC_ACQUIRE) == 0)) {
		uint64_t frees = __atomic_load_n(&cache->frees, __ATOMIC_RELAXED) + 1;
		int64_t balance = (int64_t)(frees - __atomic_load_n(&cache->allocs, __ATOMIC_RELAXED));
		if (QA_LIKELY_(balance <= __atomic_load_n(&cache->room, __ATOMIC_RELAXED))) {
			*(void **)block = cache->head;
			cache->head = block;
			__atomic_store_n(&cache->frees, frees, __ATOMIC_RELAXED);
			__atomic_store_n(&heap->busy, 0u, __ATOMIC_RELEASE);
			return;
		}
	}
	__atomic_store_n(&heap->busy, 0u, __ATOMIC_RELEASE);
	qa_dealloc_slow_(block, size_class);
}

#define QA_IS_INLINE_(size, align)                                                                              \
	(__builtin_constant_p(size) && __builtin_constant_p(align) && (size) <= QA_INLINE_MAX && (align) > 0 && \
	 (align) <= QA_INLINE_MAX && ((align) & ((align)-1)) == 0)

static inline __attribute__((always_inline)) void *qa_alloc(size_t size, size_t align)
{
	if (QA_IS_INLINE_(size, align))
		return qa_alloc_class_(qa_class_of_(qa_class_size_(size, align)));
	return qa_alloc_any_(size, align);
}

static inline __attribute__((always_inline)) void qa_dealloc(void *block, size_t size, size_t align)
{
	if (QA_IS_INLINE_(size, align)) {
		if (block)
			qa_dealloc_class_(block, qa_class_of_(qa_class_size_(size, align)));
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
