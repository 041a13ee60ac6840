/*
 * Sequences of operations on libqa against the model of tests/stress/model.c. Each input starts and ends with
 * nothing held. There is no agent: the model knows every block, and a qad of this host may ask for a trim at any time.
 * Checks are off, unless QA_CHECK says otherwise: with them, which AddressSanitizer turns on, nothing is cached or
 * kept, so most of libqa would not be reached.
 */
#include <stdlib.h>

#include "operations.h"
#include "qa.h"
#include "stress.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* By a call: the library read the environment, and started its agent, before main. */
	qa_agent_stop();
	if (!getenv("QA_CHECK"))
		expect_equal(qa_set("QA_CHECK", "off"), 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	operations_run(data, size, false);
	return 0;
}
