/*
 * Sequences of operations on libqa against the model of tests/stress/operations.c. Each input starts and ends with
 * nothing held.
 */
#include <stdlib.h>

#include "operations.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return setenv("QA_AGENT", "off", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	operations_run(data, size, false);
	return 0;
}
