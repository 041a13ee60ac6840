// words - counts the words of its input in containers on libqa, by std::pmr and by qa::allocator.
//
// The table of words is a std::pmr container: its type does not name libqa, and what it is told at run time decides
// where its nodes and strings come from. The list of the most frequent ones has qa::allocator in its type, which costs
// nothing at run time. After the work both are dropped and libqa is trimmed, as `qactl trim words` would do from
// outside.
#include <qa.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace
{

using word_counts = std::pmr::unordered_map<std::pmr::string, std::uint64_t>;
using ranked_words =
	std::vector<std::pair<std::uint64_t, std::string>, qa::allocator<std::pair<std::uint64_t, std::string>>>;

ranked_words most_frequent(const word_counts &counts, std::size_t limit)
{
	ranked_words ranked;
	ranked.reserve(counts.size());
	for (const auto &[word, count] : counts)
		ranked.emplace_back(count, word);
	std::sort(ranked.begin(), ranked.end(), std::greater<>());
	ranked.resize(std::min(ranked.size(), limit));
	return ranked;
}

void print_figures(const char *when)
{
	struct qa_stats figures;
	qa_stats(&figures, nullptr, 0);
	std::printf("%-8s used %" PRIu64 " bytes, cached %" PRIu64 " bytes\n", when, figures.used_bytes,
		    figures.cached_bytes);
}

} // namespace

int main()
{
	{
		word_counts counts(qa::resource());
		std::string word;
		while (std::cin >> word)
			counts[std::pmr::string(word, qa::resource())]++;
		for (const auto &[count, text] : most_frequent(counts, 5))
			std::printf("%8" PRIu64 " %s\n", count, text.c_str());
		print_figures("counted");
	}
	print_figures("dropped");
	qa_trim(nullptr, nullptr);
	print_figures("trimmed");
	return 0;
}
