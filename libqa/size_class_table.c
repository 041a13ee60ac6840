/*
 * The classes of small sizes. Apart from the rest, as libqa_malloc.so has a copy, which it reads without a detour.
 */
#include "size_class.h"

/* clang-format off */
#define X2(n) n, n
#define X4(n) X2(n), X2(n)
#define X8(n) X4(n), X4(n)
#define X16(n) X8(n), X8(n)

const uint8_t size_class_table[SIZE_CLASS_TABLE_BYTES / 16 + 1] = {
	2, 2, 4, 6, 8, 10, 12, 14, 16,  /* 16, 16, 32 ... 128 */
	X2(17), X2(18), X2(19), X2(20), /* 160, 192, 224, 256 */
	X4(21), X4(22), X4(23), X4(24), /* 320, 384, 448, 512 */
	X8(25), X8(26), X8(27), X8(28), /* 640, 768, 896, 1024 */
};

const uint8_t size_class_packed[SIZE_CLASS_TABLE_BYTES / 8 + 1] = {
	1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, /* 8, 8, 16 ... 128 */
	X4(17), X4(18), X4(19), X4(20),
	X8(21), X8(22), X8(23), X8(24),
	X16(25), X16(26), X16(27), X16(28),
};
/* clang-format on */
