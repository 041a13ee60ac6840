/*
 * A program on plain malloc that lives as programs do: threads that allocate and free one another's blocks, end with
 * thread-local destructors that free, while others fork children that allocate, make threads and exec; plugins that are
 * opened and closed. Prints "ok" and how many children and threads ended well.
 *
 * usage: malloc_lives [PLUGIN]...
 */
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, SLOTS = 512, CHILDREN = 40, SHORT_THREADS = 100 };

static _Atomic(char *) slots[SLOTS];
static atomic_bool must_end;
static pthread_key_t key;

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "malloc_lives: %s\n", what);
	_exit(1);
}

static unsigned next_random(unsigned *state)
{
	return *state = *state * 1664525u + 1013904223u;
}

/* Takes what another thread left and leaves a block of its own. */
static void exchange(unsigned *state)
{
	size_t size = next_random(state) >> (next_random(state) % 16 + 14) | 8;
	char *block = next_random(state) % 4 ? malloc(size) : calloc(1, size);
	check(block != NULL, "no memory");
	memset(block, (int)size, size);
	char *old = atomic_exchange(&slots[next_random(state) % SLOTS], block);
	if (old && next_random(state) % 8 == 0)
		old = realloc(old, size);
	free(old);
}

static void *work(void *data)
{
	unsigned state = (unsigned)(size_t)data;
	while (!atomic_load(&must_end))
		exchange(&state);
	return NULL;
}

/* The destructors run round after round, also after libqa's own. */
static void free_and_come_again(void *block)
{
	int rounds = *(int *)block;
	free(block);
	if (rounds == 0)
		return;
	int *again = malloc(sizeof *again * 16);
	*again = rounds - 1;
	pthread_setspecific(key, again);
}

static void *live_shortly(void *data)
{
	unsigned state = (unsigned)(size_t)data;
	int *rounds = malloc(64);
	*rounds = 3;
	pthread_setspecific(key, rounds);
	for (int i = 0; i < 50; i++)
		exchange(&state);
	return NULL;
}

static void run_short_threads(int count)
{
	pthread_t thread;
	for (int i = 0; i < count; i++) {
		check(pthread_create(&thread, NULL, live_shortly, (void *)(size_t)i) == 0, "no thread");
		check(pthread_join(thread, NULL) == 0, "join");
	}
}

/* Only this thread is left; the blocks of the others are as they were. */
static void live_as_child(unsigned state)
{
	for (int i = 0; i < 2000; i++)
		exchange(&state);
	run_short_threads(3);
	if (state % 4 == 0)
		execl("/bin/true", "true", (char *)NULL);
	exit(0);
}

static void run_child(unsigned number)
{
	int status;
	pid_t pid;
	char *const arguments[] = {"true", NULL};
	if (number % 3 == 0) {
		check(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0, "posix_spawn");
	} else if (number % 3 == 1) {
		pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): what vfork does is the question */
		if (pid == 0) {
			execv("/bin/true", arguments);
			_exit(127);
		}
	} else {
		pid = fork();
		if (pid == 0)
			live_as_child(number);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "a child did not end well");
}

static void open_and_close(const char *path)
{
	for (int i = 0; i < 20; i++) {
		void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		check(plugin != NULL, "dlopen");
		char *(*get)(void) = (char *(*)(void))dlsym(plugin, "plugin_block");
		check(get != NULL, "dlsym");
		char *block = get();
		check(dlclose(plugin) == 0, "dlclose");
		free(block);
	}
}

int main(int argc, char **argv)
{
	pthread_t workers[WORKERS];
	check(pthread_key_create(&key, free_and_come_again) == 0, "no key");
	for (size_t i = 0; i < WORKERS; i++)
		check(pthread_create(&workers[i], NULL, work, (void *)(i + 1)) == 0, "no thread");
	for (unsigned i = 0; i < CHILDREN; i++)
		run_child(i);
	run_short_threads(SHORT_THREADS);
	for (int i = 1; i < argc; i++)
		open_and_close(argv[i]);
	atomic_store(&must_end, true);
	for (size_t i = 0; i < WORKERS; i++)
		check(pthread_join(workers[i], NULL) == 0, "join");
	printf("ok %d children, %d threads\n", CHILDREN, SHORT_THREADS);
	return 0;
}
