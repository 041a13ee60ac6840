// The front end under the standard containers and smart pointers, in every standard from C++11 on.
#include <qa.hpp>

#include <algorithm>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <scoped_allocator>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "check.h"

namespace
{

struct record {
	double x, y, z;
};

struct alignas(64) wide {
	char bytes[96];
};

int alive;

struct counted {
	int value;
	explicit counted(int v = 0) : value(v)
	{
		if (v < 0)
			throw v;
		alive++;
	}
	counted(const counted &) = delete;
	counted &operator=(const counted &) = delete;
	~counted() { alive--; }
};

struct third_throws {
	third_throws()
	{
		if (alive == 2)
			throw 3;
		alive++;
	}
	~third_throws() { alive--; }
};

typedef std::basic_string<char, std::char_traits<char>, qa::allocator<char>> text;
template <class K, class V> using map_of = std::map<K, V, std::less<K>, qa::allocator<std::pair<const K, V>>>;
template <class K, class V>
using table_of = std::unordered_map<K, V, std::hash<K>, std::equal_to<K>, qa::allocator<std::pair<const K, V>>>;

text number_text(int n)
{
	text digits("a text that is too long for the string itself, number ");
	for (; n > 0; n /= 10)
		digits.push_back(static_cast<char>('0' + n % 10));
	return digits;
}

void test_traits()
{
	typedef qa::allocator<int> type;
	typedef std::allocator_traits<type> traits;
	static_assert(std::is_empty<type>::value, "");
	static_assert(std::is_trivially_copyable<type>::value, "");
	static_assert(std::is_same<traits::rebind_alloc<record>, qa::allocator<record>>::value, "");
	static_assert(traits::propagate_on_container_move_assignment::value, "");
#if __cplusplus >= 201703L
	static_assert(traits::is_always_equal::value, "");
#endif
	static_assert(noexcept(type(qa::allocator<record>())), "");
	static_assert(sizeof(qa::unique_ptr<record>) == sizeof(void *), "");
	static_assert(std::is_nothrow_move_constructible<qa::pool<record>>::value, "");
	static_assert(!std::is_copy_constructible<qa::pool<record>>::value, "");
	CHECK(type() == qa::allocator<record>() && !(type() != qa::allocator<void>()));
	CHECK(traits::max_size(type()) > size_t{1} << 40);
}

void test_blocks_are_exact()
{
	qa::allocator<record> of_records;
	uint64_t before = used_blocks(24);
	record *one = of_records.allocate(1);
	CHECK_EQUAL(used_blocks(24), before + 1);
	of_records.deallocate(one, 1);
	CHECK_EQUAL(used_blocks(24), before);
	for (size_t count = 0; count < 3000; count += 1 + count / 3) {
		record *several = of_records.allocate(count);
		for (size_t i = 0; i < count; i++)
			several[i].z = static_cast<double>(i);
		of_records.deallocate(several, count);
	}
	for (size_t count = 1; count < 40; count++) {
		wide *aligned = qa::allocator<wide>().allocate(count);
		CHECK_EQUAL(reinterpret_cast<uintptr_t>(aligned) % 64, 0u);
		qa::allocator<wide>().deallocate(aligned, count);
	}
}

void test_too_much()
{
	int caught = 0;
	try {
		(void)qa::allocator<record>().allocate(static_cast<size_t>(-1) / 8);
	} catch (const std::bad_array_new_length &) {
		caught++;
	}
	try {
		(void)qa::allocator<char>().allocate(PTRDIFF_MAX);
	} catch (const std::bad_array_new_length &) {
		caught = 100;
	} catch (const std::bad_alloc &) {
		caught++;
	}
	static int asked;
	std::set_new_handler([]() {
		if (++asked == 3)
			std::set_new_handler(nullptr);
	});
	try {
		(void)qa::allocator<char>().allocate(PTRDIFF_MAX);
	} catch (const std::bad_alloc &) {
		caught++;
	}
	CHECK_EQUAL(caught, 3);
	CHECK_EQUAL(asked, 3);
}

void test_containers()
{
	std::vector<int, qa::allocator<int>> numbers;
	std::list<int, qa::allocator<int>> list;
	std::forward_list<int, qa::allocator<int>> forward;
	std::deque<text, qa::allocator<text>> texts;
	std::multiset<int, std::greater<int>, qa::allocator<int>> set;
	std::vector<bool, qa::allocator<bool>> bits;
	map_of<int, text> map;
	table_of<int, text> table;
	for (int i = 0; i < 5000; i++) {
		int n = (i * 7919) % 5003;
		numbers.push_back(n);
		list.push_back(n);
		forward.push_front(n);
		texts.push_back(number_text(n));
		set.insert(n);
		bits.push_back(n % 2 == 1);
		map[n] = number_text(n);
		table[n] = number_text(n);
	}
	std::sort(numbers.begin(), numbers.end());
	list.sort();
	forward.sort();
	CHECK(std::equal(list.begin(), list.end(), numbers.begin()));
	CHECK(std::equal(forward.begin(), forward.end(), numbers.begin()));
	CHECK(std::equal(set.rbegin(), set.rend(), numbers.begin()));
	CHECK(map.size() == numbers.size() && table.size() == map.size());
	for (const auto &entry : map)
		CHECK(entry.second == number_text(entry.first) && table.at(entry.first) == entry.second);
	auto moved = std::move(map);
	map = std::move(moved);
	map.erase(map.begin(), std::next(map.begin(), 2500));
	auto copy = map;
	std::swap(copy, map);
	CHECK(copy.size() == 2500 && copy == map);
	std::vector<wide, qa::allocator<wide>> wides(100);
	CHECK_EQUAL(reinterpret_cast<uintptr_t>(wides.data()) % 64, 0u);
	std::vector<text, std::scoped_allocator_adaptor<qa::allocator<text>>> scoped(10, number_text(5));
	CHECK(scoped.back() == number_text(5));
}

void test_pointers()
{
	{
		std::shared_ptr<counted> one = qa::make_shared<counted>(5);
		std::shared_ptr<const counted> same = one;
		std::weak_ptr<counted> weak = one;
		std::shared_ptr<counted> two = std::allocate_shared<counted>(qa::allocator<void>(), 6);
		std::shared_ptr<counted> three(new counted(7), std::default_delete<counted>(), qa::allocator<int>());
		CHECK(same->value + two->value + three->value == 18 && weak.use_count() == 2);
#if __cplusplus >= 202002L
		std::shared_ptr<int[]> array = qa::make_shared<int[]>(size_t{30}, 4);
		CHECK(array[29] == 4);
#endif
		qa::unique_ptr<counted> unique = qa::make_unique<counted>(8);
		qa::unique_ptr<counted[]> several = qa::make_unique<counted[]>(9);
		qa::unique_ptr<const text> constant = qa::make_unique<const text>("x");
		CHECK(unique->value == 8 && several[8].value == 0 && *constant == "x");
		CHECK_EQUAL(alive, 13);
		several = qa::make_unique<counted[]>(0);
		CHECK_EQUAL(alive, 4);
	}
	CHECK_EQUAL(alive, 0);
	int caught = 0;
	uint64_t before = used_bytes();
	try {
		qa::make_unique<counted>(-1);
	} catch (int) {
		caught++;
	}
	try {
		qa::make_unique<third_throws[]>(5);
	} catch (int) {
		caught++;
	}
	CHECK_EQUAL(caught, 2);
	CHECK_EQUAL(alive, 0);
	CHECK_EQUAL(used_bytes(), before);
}

void test_pool()
{
	std::shared_ptr<counted> outlives;
	{
		qa::pool<counted> pool("counted");
		counted *object = pool.construct(1);
		counted *room = pool.allocate();
		CHECK_EQUAL(used_blocks(8, "counted"), 2u);
		CHECK_EQUAL(pool.close(), -EBUSY);
		pool.deallocate(room);
		pool.destroy(object);
		pool.destroy(nullptr);
		try {
			pool.construct(-1);
			CHECK(false);
		} catch (int) {
		}
		CHECK_EQUAL(used_blocks(8, "counted"), 0u);
		qa::pool<counted>::unique_ptr unique = pool.make_unique(2);
		qa::pool<counted> moved(std::move(pool));
		CHECK(!pool && moved && pool.close() == 0 && moved.get());
		unique.reset();
		outlives = qa::allocate_shared<counted>(moved, 3);
		pool = std::move(moved);
		CHECK_EQUAL(alive, 1);
		try {
			qa::pool<int> again("counted");
			CHECK(false);
		} catch (const std::system_error &error) {
			CHECK_EQUAL(error.code().value(), EEXIST);
		}
		CHECK(!qa::pool<int>("", std::nothrow));
	}
	CHECK(has_pool("counted") && outlives->value == 3); // it is left, since an object lives
	outlives.reset();
	CHECK_EQUAL(alive, 0);
	{
		qa::pool<wide> pool("wide");
		CHECK(has_pool("wide"));
		CHECK_EQUAL(reinterpret_cast<uintptr_t>(pool.make_unique().get()) % 64, 0u);
	}
	CHECK(!has_pool("wide"));
}

#ifdef QA_HAS_MEMORY_RESOURCE
void test_memory_resource()
{
	qa::memory_resource own;
	CHECK(own == *qa::resource() && own != *std::pmr::new_delete_resource());
	std::pmr::vector<std::pmr::string> texts(qa::resource());
	uint64_t before = used_bytes();
	for (int i = 0; i < 1000; i++)
		texts.emplace_back("a text that is too long for the string itself");
	CHECK(used_bytes() > before + 1000 * 40);
	std::pmr::unsynchronized_pool_resource pools(&own);
	std::pmr::map<int, std::pmr::string> map(&pools);
	for (int i = 0; i < 1000; i++)
		map[i] = texts[static_cast<size_t>(i)];
	void *aligned = own.allocate(100, 4096);
	CHECK_EQUAL(reinterpret_cast<uintptr_t>(aligned) % 4096, 0u);
	own.deallocate(aligned, 100, 4096);
	try {
		(void)own.allocate(PTRDIFF_MAX);
		CHECK(false);
	} catch (const std::bad_alloc &) {
	}
}
#else
void test_memory_resource() {}
#endif

} // namespace

int main()
{
	test_traits();
	uint64_t before = used_bytes();
	test_blocks_are_exact();
	test_too_much();
	test_containers();
	test_pointers();
	test_pool();
	test_memory_resource();
	CHECK_EQUAL(used_bytes(), before);
	std::puts("ok");
	return 0;
}
