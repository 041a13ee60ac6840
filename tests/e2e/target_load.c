/*
 * Threads at full speed. Every thread makes a block, fills it with words that only this block has, and swaps it into
 * one of many shared slots; the block that it finds there, mostly another thread's, is checked word by word and
 * freed. So a block that is lost shows as used at the end, one that was given out twice or changed by the
 * allocator does not have its words any more. Small sizes are constants: the inline path is what runs.
 */
#include "target.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <qa.h>

enum { SLOTS = 4096, THREADS = 64, LARGE_BYTES = 300000, CHILD_BLOCKS = 1000 };

struct block {
	uint64_t words; /* of the whole block */
	uint64_t kind;
	uint64_t filling[]; /* words - 2 times the block's own number */
};

struct worker {
	pthread_t thread;
	uint64_t operations, random;
	struct load_result result;
};

static _Atomic(struct block *) slots[SLOTS];

static uint64_t next_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static const size_t kind_bytes[8] = {24, 32, 56, 104, 256, 1000, 3000, LARGE_BYTES};

static struct block *block_alloc(unsigned kind)
{
	switch (kind) {
	case 0:
		return qa_alloc(24, 8);
	case 1:
		return qa_alloc(32, 16);
	case 2:
		return qa_alloc(56, 8);
	case 3:
		return qa_alloc(104, 8);
	case 4:
		return qa_alloc(256, 64);
	default:
		return qa_malloc(kind_bytes[kind]);
	}
}

static void block_free(struct block *block)
{
	switch (block->kind) {
	case 0:
		qa_dealloc(block, 24, 8);
		break;
	case 1:
		qa_dealloc(block, 32, 16);
		break;
	case 2:
		qa_dealloc(block, 56, 8);
		break;
	case 3:
		qa_free(block); /* a sized block through the unsized free */
		break;
	case 4:
		qa_dealloc(block, 256, 64);
		break;
	case 5:
		qa_free_sized(block, 1000);
		break;
	default:
		qa_free(block);
	}
}

/* NULL when memory is out. */
static struct block *block_make(uint64_t number)
{
	/* Small ones mostly; one in 4,096 is above the largest class. */
	unsigned kind = (number & 4095) == 0 ? 7 : (unsigned)(number >> 12) % 7;
	struct block *block = block_alloc(kind);
	if (!block)
		return NULL;
	block->kind = kind;
	block->words = kind_bytes[kind] / 8;
	for (uint64_t i = 0; i + 2 < block->words; i++)
		block->filling[i] = number ^ (uintptr_t)block;
	return block;
}

static bool block_is_whole(const struct block *block)
{
	if (block->kind > 7 || block->words != kind_bytes[block->kind] / 8)
		return false;
	for (uint64_t i = 1; i + 2 < block->words; i++) {
		if (block->filling[i] != block->filling[0])
			return false;
	}
	return true;
}

/* Checks and frees; a broken block is left alone, since freeing it would only hide where it broke. */
static void block_end(struct block *block, struct load_result *result)
{
	result->checked++;
	if (block_is_whole(block))
		block_free(block);
	else
		result->bad++;
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	for (uint64_t i = 0; i < worker->operations; i++) {
		uint64_t number = next_number(&worker->random);
		struct block *block = block_make(number);
		if (!block) {
			worker->result.failed++;
			continue;
		}
		/* acq_rel: the taker sees the words that the maker wrote, and its own are seen by the next. */
		block = atomic_exchange_explicit(&slots[(number >> 40) % SLOTS], block, memory_order_acq_rel);
		if (block)
			block_end(block, &worker->result);
	}
	return NULL;
}

/* In a forked child: its heap must work whatever the other threads did at the moment of the fork. */
static int child_run(void)
{
	static struct block *blocks[CHILD_BLOCKS];
	struct load_result result = {0};
	uint64_t random = 1234567;
	for (int i = 0; i < CHILD_BLOCKS; i++) {
		blocks[i] = block_make(next_number(&random));
		if (!blocks[i])
			return 1;
	}
	for (int i = 0; i < CHILD_BLOCKS; i++)
		block_end(blocks[i], &result);
	return result.bad != 0;
}

static bool child_fork_and_wait(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(child_run());
	int status;
	while (pid > 0 && waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct load_result load_run(unsigned threads, uint64_t operations, unsigned children)
{
	static struct worker workers[THREADS];
	struct load_result result = {0};
	unsigned started = 0;
	for (; started < threads && started < THREADS; started++) {
		workers[started] =
			(struct worker){.operations = operations, .random = 88172645463325252u + started * 977};
		if (pthread_create(&workers[started].thread, NULL, worker_run, &workers[started]) != 0)
			break;
	}
	for (unsigned i = 0; i < children; i++)
		result.children_bad += !child_fork_and_wait();
	for (unsigned i = 0; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
		result.checked += workers[i].result.checked;
		result.bad += workers[i].result.bad;
		result.failed += workers[i].result.failed;
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		struct block *block = atomic_exchange_explicit(&slots[i], NULL, memory_order_acquire);
		if (block)
			block_end(block, &result);
	}
	return result;
}
