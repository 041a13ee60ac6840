// No name of ours is in the way of those of std and boost, nor theirs of ours.
#define BOOST_SP_USE_QUICK_ALLOCATOR

#include <boost/align.hpp>
#include <boost/make_shared.hpp>
#include <boost/make_unique.hpp>
#include <boost/pool/pool.hpp>
#include <boost/shared_ptr.hpp>
#include <boost/smart_ptr.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace std;
using namespace boost;

#include <qa.hpp>

#include "check.h"

typedef qa::allocator<int> ints;

static void test_std()
{
	using std::allocate_shared;
	auto one = allocate_shared<int>(ints(), 1); // not one of qa, by its argument
	auto two = allocate_shared<qa::pool<int>>(qa::allocator<void>(), "two");
	qa::pool<int> three("three");
	using std::swap;
	swap(three, *two);
	CHECK(*one == 1 && three.get() && two->get());
}

static void test_boost()
{
	using boost::allocate_shared;
	auto one = allocate_shared<int>(ints(), 1);
	boost::shared_ptr<int> two(new int(2), boost::checked_deleter<int>(), ints());
	boost::shared_ptr<int[]> three = boost::allocate_shared<int[]>(ints(), 30);
	CHECK(*one + *two + three[29] == 3);
}

static void test_both()
{
	vector<int, ints> numbers(10, 1);
	map<int, int, less<int>, qa::allocator<pair<const int, int>>> names;
	names[1] = static_cast<int>(numbers.size());
	pool<> of_boost(24);
	CHECK(names.begin()->second == 10 && of_boost.get_requested_size() == 24);
	auto unique = qa::make_unique<string>("x");
	auto shared = qa::make_shared<string>("y");
	CHECK(*unique + *shared == "xy");
}

int main()
{
	test_std();
	test_boost();
	test_both();
	puts("ok");
	return 0;
}
