// boost_exit_main PLUGIN close|keep: fills the static objects, loads the plugin, and ends.
#include "boost_exit.h"

#include <cstdio>
#include <dlfcn.h>

typedef void take_function(const boost::shared_ptr<guest> &);

int main(int argc, char **argv)
{
	static house in_main;
	if (argc != 3)
		return 64;
	void *plugin = dlopen(argv[1], RTLD_NOW);
	if (!plugin) {
		std::fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	take_function *take = reinterpret_cast<take_function *>(dlsym(plugin, "plugin_take"));
	if (!take)
		return 1;
	one.fill("one");
	in_main.fill("in main");
	other.fill("other");
	take(boost::shared_ptr<guest>(new guest("taken")));
	if (std::strcmp(argv[2], "close") == 0 && dlclose(plugin) != 0)
		return 1;
	if (write(STDOUT_FILENO, "end\n", 4) != 4)
		return 1;
	return 0;
}
