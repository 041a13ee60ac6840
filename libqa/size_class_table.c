/*
 * The classes of small sizes. Apart from the rest, as libqa_malloc.so has a copy, which it reads without a detour.
 */
#include "size_class.h"

/* clang-format off */
#define X2(n) n, n
#define X4(n) X2(n), X2(n)
#define X8(n) X4(n), X4(n)

const uint8_t size_class_table[SIZE_CLASS_TABLE_BYTES / 16 + 1] = {
	2, 2, 4, 6, 8, 10, 12, 14, 16,                                 /* 16, 16, 32 ... 128 */
	17, 18, 19, 20, 21, 22, 23, 24,                                /* 144, 160 ... 256 */
	X2(25), X2(26), X2(27), X2(28), X2(29), X2(30), X2(31), X2(32), /* 288, 320 ... 512 */
	X4(33), X4(34), X4(35), X4(36), X4(37), X4(38), X4(39), X4(40), /* 576, 640 ... 1024 */
};

const uint8_t size_class_packed[SIZE_CLASS_TABLE_BYTES / 8 + 1] = {
	1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, /* 8, 8, 16 ... 128 */
	X2(17), X2(18), X2(19), X2(20), X2(21), X2(22), X2(23), X2(24),
	X4(25), X4(26), X4(27), X4(28), X4(29), X4(30), X4(31), X4(32),
	X8(33), X8(34), X8(35), X8(36), X8(37), X8(38), X8(39), X8(40),
};
/* clang-format on */
