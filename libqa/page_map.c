/*
 * The page map's leaves. Two threads that need the same one both map it; the one that loses the exchange gives its own
 * back.
 */
#include "page_map.h"

#include "align.h"
#include "keep.h"
#include "os.h"
#include "page_map_window.h"

_Atomic(struct page_map_leaf *) page_map_root[PAGE_MAP_ROOTS];
uintptr_t page_map_window = (uintptr_t)1 << PAGE_MAP_ADDRESS_BITS;
_Atomic uint8_t page_map_kinds[PAGE_MAP_WINDOW_UNITS];
unsigned page_map_shift = 16;
uint32_t page_map_far_words[SIZE_CLASS_GRAINS];

/* For libqa_malloc.so, see page_map_window.h. */
extern uintptr_t qa_page_window_ __attribute__((alias("page_map_window")));
extern _Atomic uint8_t qa_page_kinds_[PAGE_MAP_WINDOW_UNITS] __attribute__((alias("page_map_kinds")));
extern unsigned qa_page_shift_ __attribute__((alias("page_map_shift")));

/*
 * The window lies around where the kernel maps next: it goes on from there downward, or upward (legacy layout,
 * Valgrind).
 */
void page_map_init(unsigned page_shift)
{
	__atomic_store_n(&page_map_shift, page_shift, __ATOMIC_RELAXED);
	/*
	 * The bits of a chunk of 2 MiB are whole OS pages of 4 KiB, so that they can go with it:
	 *
	 *     2 MiB / page_size * words * 8 = n * 4096 if words is a multiple of page_size / 4096
	 */
	size_t step = ((size_t)1 << page_shift) / 4096;
	for (unsigned i = 0; i < SIZE_CLASS_GRAINS; i++)
		page_map_far_words[i] =
			(uint32_t)align_up((((uint32_t)1 << page_shift) / size_class_grains[i] + 63) / 64, step);
	uintptr_t unit = (uintptr_t)1 << page_shift, window = unit * PAGE_MAP_WINDOW_UNITS;
	void *probe = os_map(os_page_bytes(), os_page_bytes());
	if (!probe)
		return; /* no memory: the leaves do without */
	uintptr_t below = window / 2, address = (uintptr_t)probe & ~(unit - 1);
	if (address > below)
		__atomic_store_n(&page_map_window, address - below, __ATOMIC_RELAXED);
	os_unmap(probe, os_page_bytes());
}

static size_t units_in_leaf(void)
{
	return (size_t)1 << (PAGE_MAP_LEAF_BITS - page_map_shift);
}

static struct page_map_leaf *leaf_create(size_t *map_bytes)
{
	size_t units = units_in_leaf(), leaf_bytes = (size_t)1 << PAGE_MAP_LEAF_BITS;
	size_t slots_at = align_up(sizeof(struct page_map_leaf) + units, os_page_bytes());
	size_t holes_at = slots_at + units * sizeof(union page_slot);
	*map_bytes = align_up(holes_at + leaf_bytes / os_page_bytes() / 8, os_page_bytes());
	struct page_map_leaf *leaf = keep_map(*map_bytes, 64);
	if (leaf) {
		leaf->slots = (union page_slot *)((char *)leaf + slots_at);
		leaf->holes = (_Atomic uint64_t *)((char *)leaf + holes_at);
	}
	return leaf;
}

bool page_map_reserve_bits(const void *unit, unsigned grain)
{
	if (grain == SIZE_CLASS_NEAR)
		return true;
	struct page_map_leaf *leaf = page_map_leaf_of(unit);
	if (!leaf->far_bits[grain])
		leaf->far_bits[grain] = keep_map(
			align_up(units_in_leaf() * page_map_far_words[grain] * sizeof(uint64_t), os_page_bytes()),
			os_page_bytes());
	return leaf->far_bits[grain] != NULL;
}

static bool leaf_ensure(size_t index)
{
	_Atomic(struct page_map_leaf *) *root = &page_map_root[index];
	if (atomic_load_explicit(root, memory_order_acquire))
		return true;
	size_t map_bytes;
	struct page_map_leaf *leaf = leaf_create(&map_bytes), *expected = NULL;
	if (!leaf)
		return false;
	/* release: pairs with the acquire in page_map_leaf_of */
	if (!atomic_compare_exchange_strong_explicit(root, &expected, leaf, memory_order_acq_rel, memory_order_acquire))
		os_unmap(leaf, map_bytes);
	return true;
}

bool page_map_reserve(const void *address, size_t size_bytes)
{
	uintptr_t first = (uintptr_t)address, last = first + size_bytes - 1;
	if (last >> PAGE_MAP_ADDRESS_BITS)
		return false;
	for (size_t i = first >> PAGE_MAP_LEAF_BITS; i <= last >> PAGE_MAP_LEAF_BITS; i++)
		if (!leaf_ensure(i))
			return false;
	return true;
}

void page_map_set_kind(const void *address, size_t units, uint8_t kind)
{
	for (size_t i = 0; i < units; i++) {
		const char *unit = (const char *)address + (i << page_map_shift);
		atomic_store_explicit(page_map_kind_place(unit), kind, memory_order_release);
	}
}
