// Compiled with -fno-exceptions -fno-rtti. With an argument it asks for too much, and must not come back from that.
#include <qa.hpp>

#include <string>
#include <vector>

#include "check.h"

int main(int argc, char **argv)
{
	std::vector<int, qa::allocator<int>> numbers(1000, 7);
	auto unique = qa::make_unique<std::string>("unique");
	auto shared = qa::make_shared<std::string>("shared");
	qa::pool<std::string> pool("strings");
	CHECK(*unique + *shared + *pool.make_unique("pool") == "uniquesharedpool" && numbers.back() == 7);
#ifdef QA_HAS_MEMORY_RESOURCE
	CHECK(*qa::resource() == *qa::resource());
#endif
	if (argc == 1) {
		std::puts("ok");
		return 0;
	}
	switch (argv[1][0]) {
	case 'a':
		numbers.get_allocator().deallocate(numbers.get_allocator().allocate(PTRDIFF_MAX / 4), PTRDIFF_MAX / 4);
		break;
	case 'l':
		(void)numbers.get_allocator().allocate(static_cast<size_t>(-1));
		break;
	case 'p':
		qa::pool<int> again("strings");
		break;
	}
	return 0;
}
