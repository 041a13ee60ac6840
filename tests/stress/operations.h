/*
 * operations.h - sequences of operations on libqa, checked against the model of model.h after each step.
 *
 * The operations run in several threads, one at a time, so that libqa is quiet between two steps and its figures must
 * be exact: used blocks of each class and pool as the table has them, nothing cached after a trim, and nothing held but
 * the OS pages that have a byte of a live block.
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one operation: which and in which thread, how much (two), and a choice. */
enum { OPERATION_BYTES = 4 };

/*
 * Runs the operations that the bytes say, then frees all and checks that nothing is held. Forks are left out unless
 * wanted. A violation aborts the program, with a message. One caller at a time; libqa is not used by others meanwhile.
 */
void operations_run(const uint8_t *bytes, size_t size, bool with_forks);

#endif
