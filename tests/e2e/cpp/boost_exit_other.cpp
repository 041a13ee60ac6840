#include "boost_exit.h"

house other;
static boost::shared_ptr<guest> at_once(new guest("at once")); // the first control block of the process
