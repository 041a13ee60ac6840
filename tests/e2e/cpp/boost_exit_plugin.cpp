// A library that is loaded late; unloaded, or still there at exit.
#include "boost_exit.h"

static boost::shared_ptr<guest> of_plugin(new guest("plugin"));
extern "C" __attribute__((visibility("default"))) void plugin_take(const boost::shared_ptr<guest> &guest_of_main);

void plugin_take(const boost::shared_ptr<guest> &guest_of_main)
{
	static boost::shared_ptr<guest> taken;
	taken = guest_of_main;
}
