/* What the C++ programs of the tests share: a check that prints both sides, and the figures of one row. */
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <qa.h>

#define CHECK(condition)                                                                     \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			std::abort();                                                        \
		}                                                                            \
	} while (0)

#define CHECK_EQUAL(left, right) check_equal((left), (right), #left " == " #right, __LINE__)

template <class L, class R> void check_equal(const L &left, const R &right, const char *text, int line)
{
	if (left == static_cast<L>(right))
		return;
	std::fprintf(stderr, "line %d: %s: %lld and %lld\n", line, text, static_cast<long long>(left),
		     static_cast<long long>(right));
	std::abort();
}

/* Used blocks of the class of that block size, or of the pool of that name. */
inline uint64_t used_blocks(uint64_t block_size, const char *name = "")
{
	static qa_class_stats rows[QA_STATS_ROWS_MAX];
	struct qa_stats total;
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].block_size == block_size && std::strcmp(rows[i].name, name) == 0)
			return rows[i].used_blocks;
	}
	return 0;
}

inline bool has_pool(const char *name)
{
	static qa_class_stats rows[QA_STATS_ROWS_MAX];
	struct qa_stats total;
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);
	for (size_t i = 0; i < count; i++) {
		if (std::strcmp(rows[i].name, name) == 0)
			return true;
	}
	return false;
}

inline uint64_t used_bytes()
{
	struct qa_stats total;
	qa_stats(&total, NULL, 0);
	return total.used_bytes;
}

#endif
