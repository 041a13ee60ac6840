// Static objects that hold boost::shared_ptr to the end of the process.
#ifndef BOOST_EXIT_H
#define BOOST_EXIT_H

#define BOOST_SP_USE_QUICK_ALLOCATOR
#include <boost/shared_ptr.hpp>

#include <cstring>
#include <unistd.h>

// Says its name when it goes, and makes and drops another control block meanwhile.
struct guest {
	const char *name;

	explicit guest(const char *text) : name(text) {}
	~guest()
	{
		boost::shared_ptr<double> last(new double(1));
		char line[64];
		std::strcpy(line, name);
		std::strcat(line, "\n");
		if (write(STDOUT_FILENO, line, std::strlen(line)) < 0)
			_exit(2);
	}
};

// Constructed before anything allocates, or after: main fills it.
struct house {
	boost::shared_ptr<guest> first, second;

	void fill(const char *name)
	{
		first.reset(new guest(name));
		second = first;
	}
};

extern house one, other;

#endif
