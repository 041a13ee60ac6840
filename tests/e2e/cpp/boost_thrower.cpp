// What Boost calls where it would throw, in a program without exceptions: a function of the program's.
#include <boost/throw_exception.hpp>

#include <cstdlib>

void boost::throw_exception(const std::exception &)
{
	std::abort();
}

void boost::throw_exception(const std::exception &, const boost::source_location &)
{
	std::abort();
}
