/*
 * One row per allocator. Debian's libraries are named as ld.so finds them, so that this works wherever they are; that
 * one was really loaded is checked by the measured program, because ld.so only warns. Our own is beside the programs.
 */
#include "allocator.h"

#include "runner.h"

#include <stdio.h>
#include <string.h>

#define BIT(group) (1u << (group))
#define ALL (BIT(GROUP_COUNT) - 1)
#define FIXED (BIT(GROUP_PAIR) | BIT(GROUP_BATCH) | BIT(GROUP_HANDOVER))
#define FLOOR (BIT(GROUP_PAIR) | BIT(GROUP_BATCH))

#define PROBE_WORK_MS 0.01

struct allocator allocators[ALLOCATORS_MAX] = {
	{"libqa", KIND_LIBQA, ALL, "bench-libqa", {NULL}, NULL, NULL, ""},
	{"libqa-sized", KIND_LIBQA, ALL, "bench-libqa-sized", {NULL}, NULL, NULL, ""},
	{"libqa-malloc",
	 KIND_LIBQA,
	 ALL,
	 "bench-malloc",
	 {"$ORIGIN/../libqa/libqa_malloc.so"},
	 "libqa_malloc",
	 NULL,
	 ""},
	{"glibc", KIND_PEER, ALL, "bench-malloc", {NULL}, "libc.so", NULL, ""},
	{"jemalloc", KIND_PEER, ALL, "bench-malloc", {"libjemalloc.so.2"}, "jemalloc", NULL, ""},
	{"tcmalloc", KIND_PEER, ALL, "bench-malloc", {"libtcmalloc_minimal.so.4"}, "tcmalloc", NULL, ""},
	{"mimalloc", KIND_PEER, ALL, "bench-malloc", {"libmimalloc.so.2", "libmimalloc.so.2.0"}, "mimalloc", NULL, ""},
	{"jemalloc-sized", KIND_SIZED_PEER, FIXED, "bench-new", {"libjemalloc.so.2"}, "jemalloc", NULL, ""},
	{"tcmalloc-sized", KIND_SIZED_PEER, FIXED, "bench-new", {"libtcmalloc_minimal.so.4"}, "tcmalloc", NULL, ""},
	{"mimalloc-sized",
	 KIND_SIZED_PEER,
	 FIXED,
	 "bench-new",
	 {"libmimalloc.so.2", "libmimalloc.so.2.0"},
	 "mimalloc",
	 NULL,
	 ""},
	{"boost-quick", KIND_PEER, FIXED, "bench-boost-quick", {NULL}, NULL, NULL, ""},
	{"boost-fast-pool", KIND_PEER, FIXED, "bench-boost-fast-pool", {NULL}, NULL, NULL, ""},
	{"floor", KIND_FLOOR, FLOOR, "bench-floor", {NULL}, NULL, NULL, ""},
};
size_t allocator_count = 13;

struct allocator *allocator_find(const char *name)
{
	for (size_t i = 0; i < allocator_count; i++) {
		if (strcmp(allocators[i].name, name) == 0)
			return &allocators[i];
	}
	return NULL;
}

bool allocator_can(const struct allocator *allocator, const struct workload *workload)
{
	return allocator->groups & BIT(workload->group);
}

bool allocator_is_sized(const struct allocator *allocator)
{
	return strcmp(allocator->name, "libqa-sized") == 0;
}

bool allocator_add_peer(char *text)
{
	char *library = strchr(text, '=');
	if (!library || library == text || library[1] == '\0' || allocator_count == ALLOCATORS_MAX)
		return false;
	*library++ = '\0';
	if (allocator_find(text))
		return false;
	const char *base = strrchr(library, '/');
	allocators[allocator_count++] = (struct allocator){
		text, KIND_PEER, ALL, "bench-malloc", {library}, base ? base + 1 : library, NULL, ""};
	return true;
}

bool allocator_add_build(const char *folder)
{
	static const char *const names[] = {"libqa-other", "libqa-sized-other"};
	static const char *const programs[] = {"bench-libqa", "bench-libqa-sized"};
	for (size_t i = 0; i < 2; i++) {
		char *program;
		if (allocator_count == ALLOCATORS_MAX || allocator_find(names[i]) ||
		    asprintf(&program, "%s/%s", folder, programs[i]) < 0)
			return false;
		allocators[allocator_count++] =
			(struct allocator){names[i], KIND_OTHER, ALL, program, {NULL}, NULL, NULL, ""};
	}
	return true;
}

struct allocator *allocator_other_build(const struct allocator *allocator)
{
	if (allocator->kind != KIND_LIBQA || allocator->library)
		return NULL;
	return allocator_find(allocator_is_sized(allocator) ? "libqa-sized-other" : "libqa-other");
}

void allocator_probe(struct allocator *allocator)
{
	static const char *const pair = "pair-32";
	const struct runner_order order = {allocator, workload_find(pair), PROBE_WORK_MS, true};
	struct sample sample;
	size_t tries = 0;
	do {
		allocator->library = allocator->libraries[tries++];
		if (runner_run(&order, &sample, allocator->missing, sizeof allocator->missing)) {
			allocator->missing[0] = '\0';
			return;
		}
	} while (tries < ALLOCATOR_LIBRARIES && allocator->libraries[tries]);
}
