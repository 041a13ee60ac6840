/*
 * What a file that calls itself a recording holds: each line is read, whatever it is, and what is whole is shown in
 * every form.
 */
#include <stdint.h>
#include <string.h>

#include "record_reader.h"
#include "stream.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* What is shown is not for the terminal; libFuzzer's own words go to descriptor 2. */
	stdout = fopen("/dev/null", "w");
	stderr = fopen("/dev/null", "w");
	return stdout != NULL && stderr != NULL ? 0 : -1;
}

static void show(const struct round *round, bool has_classes)
{
	static const unsigned forms[] = {0, OPTION_JSON, OPTION_CSV};

	for (size_t i = 0; i < 4; i++) {
		struct request request = {.given = forms[i % 3]};
		struct stream stream;

		stream_init(&stream, &request, i == 3);
		stream.has_classes = has_classes;
		stream_print(&stream, round);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct record_reader reader;
	FILE *in = bytes > 0 ? fmemopen((void *)data, bytes, "r") : NULL;
	enum record_result result = RECORD_END;

	if (in == NULL)
		return 0;
	if (record_reader_init(&reader, in, "fuzz") == 0) {
		do {
			struct round round = {0};

			result = record_reader_next(&reader, &round);
			if (result == RECORD_ROUND)
				show(&round, reader.has_classes);
			round_finish(&round);
		} while (result == RECORD_ROUND || result == RECORD_DAMAGED);
	}
	record_reader_finish(&reader);
	return 0;
}
