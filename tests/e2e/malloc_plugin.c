/*
 * A plugin that allocates when it is opened, has thread-local storage, and frees when it is closed. Opened with
 * RTLD_DEEPBIND its malloc is that of libc, whatever the program has.
 */
#include <stdlib.h>
#include <string.h>

char *plugin_block(void) __attribute__((visibility("default")));

static __thread char of_thread[512];
static char *from_constructor;

__attribute__((constructor)) static void open_plugin(void)
{
	from_constructor = malloc(3000);
}

__attribute__((destructor)) static void close_plugin(void)
{
	free(from_constructor);
}

char *plugin_block(void)
{
	char *block = malloc(200);
	memset(of_thread, 1, sizeof of_thread);
	if (block)
		memcpy(block, of_thread, 200);
	return block;
}
