/*
 * page_map.h - from an address to what libqa has there. Any address may be asked about, without a lock.
 *
 *     address:  | 0 | root index (20 bits) | unit index in the leaf | offset in the unit |
 *                47                      28                page_shift                   0
 *
 * A leaf covers 256 MiB of addresses: one byte per unit of page_size (its kind: the class of its blocks, or none, or
 * that a large block starts there), one descriptor per unit, one bit per OS page (whether it is a hole), and bits for
 * blocks (whether they are free). Leaves are mapped when first needed, touched only where used, and never given back.
 *
 * The kinds of the addresses where the kernel puts our mappings (64 GiB of them, with 64 KiB units) lie in one table
 * instead, the window: there a free needs one load to know the class, not two that wait for each other. It is memory of
 * the library that is touched only where used.
 */
#ifndef LIBQA_PAGE_MAP_H
#define LIBQA_PAGE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "qa.h"
#include "size_class.h"

/* Data of the hot paths: known to be in this library, so that it is reached without the global offset table. */
#pragma GCC visibility push(hidden)

enum {
	PAGE_MAP_ADDRESS_BITS = 48,
	PAGE_MAP_LEAF_BITS = 28,
	PAGE_MAP_ROOTS = 1 << (PAGE_MAP_ADDRESS_BITS - PAGE_MAP_LEAF_BITS),
};

union page_slot {
	struct {
		struct page page;
		uint64_t near_bits[SIZE_CLASS_NEAR_BLOCKS / 64] __attribute__((aligned(64)));
	};
	struct page_large large;
};

struct page_map_leaf {
	union page_slot *slots;
	_Atomic uint64_t *holes;               /* one bit per OS page, see holes.h */
	uint64_t *far_bits[SIZE_CLASS_GRAINS]; /* NULL until needed; under the space's lock */
	_Atomic uint8_t kinds[];
};

enum { PAGE_MAP_WINDOW_UNITS = 1 << 20 };

extern uintptr_t page_map_window; /* the first address of the window; constant after page_map_init */
extern _Atomic uint8_t page_map_kinds[PAGE_MAP_WINDOW_UNITS];

extern _Atomic(struct page_map_leaf *) page_map_root[PAGE_MAP_ROOTS];
extern unsigned page_map_shift; /* log2 of page_size; constant after page_map_init */

/* Called once, before anything is registered. */
void page_map_init(unsigned page_shift);

static inline struct page_map_leaf *page_map_leaf_of(const void *address)
{
	uintptr_t bits = (uintptr_t)address;
	if (QA_UNLIKELY_(bits >> PAGE_MAP_ADDRESS_BITS))
		return NULL;
	/* acquire: pairs with the release in page_map_reserve; the leaf is seen zeroed */
	return atomic_load_explicit(&page_map_root[bits >> PAGE_MAP_LEAF_BITS], memory_order_acquire);
}

static inline size_t page_map_offset_in_leaf(const void *address)
{
	return (uintptr_t)address & (((uintptr_t)1 << PAGE_MAP_LEAF_BITS) - 1);
}

static inline size_t page_map_unit_of(const void *address)
{
	return page_map_offset_in_leaf(address) >> page_map_shift;
}

/*
 * A kind, in a register that is widened once and for all: by the load itself where that can be said (clang takes two
 * instructions for an atomic one). relaxed: of a block that the caller owns, the kind was written before the block was
 * handed out.
 */
static inline __attribute__((always_inline)) unsigned page_map_widened(const _Atomic uint8_t *kind)
{
	unsigned found;
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(QA_TSAN_)
	__asm__("movzbl %1, %0" : "=r"(found) : "m"(*(const uint8_t *)kind));
#else
	found = atomic_load_explicit(kind, memory_order_relaxed);
	__asm__("" : "+r"(found));
#endif
	return found;
}

/*
 * The kind of an address: a class, large, or none. False: it is not in the window, which has that start and table.
 *
 * The next allocation waits for the free's store to the list, whose own address hangs on the kind. So nothing but a
 * shift, a load and the address of the list may lie between the block and that store: the window's start is taken off
 * the table's address, which is known early, and the compiler is kept from undoing that, and from widening the byte
 * once more where it is used twice. Without, a pair of malloc and free took 5 or 8 ns, for milliseconds each.
 */
static inline __attribute__((always_inline)) bool page_map_kind_in(uintptr_t window, const _Atomic uint8_t *kinds,
								   unsigned shift, const void *address, unsigned *kind)
{
	uintptr_t first = window >> shift, unit = (uintptr_t)address >> shift, table = (uintptr_t)kinds - first;
	__asm__("" : "+r"(table), "+r"(unit));
	if (QA_UNLIKELY_(unit - first >= PAGE_MAP_WINDOW_UNITS))
		return false;
	*kind = page_map_widened((const _Atomic uint8_t *)(table + unit));
	return true;
}

/* The same of our own window. */
static inline __attribute__((always_inline)) bool page_map_window_kind(const void *address, unsigned *kind)
{
	/* relaxed: NULL may be freed while another thread's first allocation sets it, and is in no window */
	return page_map_kind_in(__atomic_load_n(&page_map_window, __ATOMIC_RELAXED), page_map_kinds,
				__atomic_load_n(&page_map_shift, __ATOMIC_RELAXED), address, kind);
}

/* Where the kind of an address is, or NULL: outside of the window and of all leaves. */
static inline _Atomic uint8_t *page_map_kind_place(const void *address)
{
	/* relaxed: NULL may be freed while another thread's first allocation sets it, and is in no window */
	uintptr_t unit = ((uintptr_t)address - __atomic_load_n(&page_map_window, __ATOMIC_RELAXED)) >>
			 __atomic_load_n(&page_map_shift, __ATOMIC_RELAXED);
	if (QA_LIKELY_(unit < PAGE_MAP_WINDOW_UNITS))
		return &page_map_kinds[unit];
	struct page_map_leaf *leaf = page_map_leaf_of(address);
	return leaf ? &leaf->kinds[page_map_unit_of(address)] : NULL;
}

static inline uint8_t page_map_kind(const void *address)
{
	_Atomic uint8_t *kind = page_map_kind_place(address);
	/* relaxed: of a block that the caller owns, the kind was written before the block was handed out */
	return QA_LIKELY_(kind != NULL) ? atomic_load_explicit(kind, memory_order_relaxed) : QA_CLASS_NONE_;
}

/* The slot of the unit at that address; the address must have been reserved. */
static inline union page_slot *page_map_slot(const void *address)
{
	return &page_map_leaf_of(address)->slots[page_map_unit_of(address)];
}

/* The page that a block is in; the block's kind must be a class. */
static inline struct page *page_map_page(const void *block)
{
	union page_slot *slot = page_map_slot(block);
	return &(slot - slot->page.back_units)->page;
}

extern uint32_t page_map_far_words[SIZE_CLASS_GRAINS]; /* of a unit; constant after page_map_init */

static inline uint64_t *page_map_far_bits(const void *unit, unsigned grain)
{
	return page_map_leaf_of(unit)->far_bits[grain] + page_map_unit_of(unit) * page_map_far_words[grain];
}

/* Makes sure that a unit has such bits. False: no memory. With the space's lock held. */
bool page_map_reserve_bits(const void *unit, unsigned grain);

/* The bits of a page's free blocks (page.h). */
static inline uint64_t *page_map_free_bits(struct page *page, const struct size_class *c)
{
	return c->grain == SIZE_CLASS_NEAR ? ((union page_slot *)page)->near_bits
					   : page_map_far_bits(page->base, c->grain);
}

/* Makes sure that leaves exist for a range. False: no memory. Thread-safe. */
bool page_map_reserve(const void *address, size_t size_bytes);

/*
 * The slot of a unit that the caller has now, to write it. Addresses that one thread gave back another may get from the
 * kernel; the acquire here pairs with the release in page_map_set_kind of who had them before.
 */
static inline union page_slot *page_map_claim(const void *address)
{
	(void)atomic_load_explicit(page_map_kind_place(address), memory_order_acquire);
	return page_map_slot(address);
}

/* Sets the kind of all units of a range that the caller has; to NONE before it gives them back. */
void page_map_set_kind(const void *address, size_t units, uint8_t kind);

#pragma GCC visibility pop
#endif
