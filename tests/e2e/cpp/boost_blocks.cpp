// Control blocks of boost::shared_ptr on libqa: what they cost, that they are counted, and that they go back.
#define BOOST_SP_USE_QUICK_ALLOCATOR

#include <boost/make_shared.hpp>
#include <boost/shared_ptr.hpp>
#include <boost/weak_ptr.hpp>

#include <new>
#include <vector>

#include "check.h"

#ifndef QA_BOOST_QUICK_ALLOCATOR
#error "Boost's own quick_allocator.hpp was found first"
#endif

namespace
{

struct with_deleter {
	void operator()(int *value) const { delete value; }
};

void test_cost()
{
	enum { COUNT = 100000 };
	uint64_t blocks = used_blocks(24), bytes = used_bytes();
	{
		typedef boost::shared_ptr<int> pointer;
		std::vector<pointer> pointers;
		pointers.reserve(COUNT);
		for (int i = 0; i < COUNT; i++)
			pointers.push_back(pointer(new int(i)));
		CHECK_EQUAL(used_blocks(24), blocks + COUNT);
		CHECK_EQUAL(used_bytes(), bytes + 24 * COUNT);
		boost::weak_ptr<int> weak(pointers.back());
		pointers.clear();
		CHECK_EQUAL(used_blocks(24), blocks + 1); // the weak pointer's
		CHECK(weak.expired());
	}
	CHECK_EQUAL(used_bytes(), bytes);
	struct qa_trim_result result;
	CHECK_EQUAL(qa_trim(NULL, &result), 0);
	CHECK(result.returned_bytes >= 24 * COUNT);
}

void test_other_blocks()
{
	uint64_t bytes = used_bytes();
	boost::shared_ptr<int> deleted(new int(1), with_deleter());
	CHECK(used_bytes() > bytes);
	deleted.reset();
	CHECK_EQUAL(used_bytes(), bytes);

	typedef boost::detail::quick_allocator<double[5]> blocks;
	void *one = blocks::alloc(), *same = blocks::alloc(40), *derived = blocks::alloc(72);
	CHECK_EQUAL(reinterpret_cast<uintptr_t>(derived) % 16, 0u);
	CHECK_EQUAL(used_bytes(), bytes + 40 + 40 + 80);
	blocks::dealloc(one);
	blocks::dealloc(same, 40);
	blocks::dealloc(derived, 72);
	blocks::dealloc(NULL);
	blocks::dealloc(NULL, 40);
	CHECK_EQUAL(used_bytes(), bytes);
}

#ifdef __EXCEPTIONS
int asked;

void give_up()
{
	if (++asked == 2)
		std::set_new_handler(NULL);
}

void test_no_memory()
{
	typedef boost::detail::quick_allocator<char> blocks;
	int caught = 0;
	std::set_new_handler(give_up);
	try {
		blocks::dealloc(blocks::alloc(static_cast<std::size_t>(-1) / 4), 1);
	} catch (const std::bad_alloc &) {
		caught++;
	}
	CHECK_EQUAL(caught, 1);
	CHECK_EQUAL(asked, 2);
}
#else
void test_no_memory() {}
#endif

} // namespace

int main()
{
	test_cost();
	test_no_memory();
	test_other_blocks();
	std::puts("ok");
	return 0;
}
