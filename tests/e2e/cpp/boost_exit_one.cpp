#include "boost_exit.h"

house one;
