/* The quantile is the upper end of the bucket in which it falls, and never above the longest. */
#include "histogram.h"

static uint64_t bucket_end_ns(size_t bucket)
{
	if (bucket < 2 * HISTOGRAM_STEPS)
		return bucket;
	size_t shift = bucket / HISTOGRAM_STEPS - 1;
	return ((uint64_t)(bucket % HISTOGRAM_STEPS + HISTOGRAM_STEPS + 1) << shift) - 1;
}

uint64_t histogram_quantile_ns(const struct histogram *histogram, double share)
{
	uint64_t wanted = (uint64_t)(share * (double)histogram->count), seen = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen > wanted || seen == histogram->count) {
			uint64_t end = bucket_end_ns(i);
			return end < histogram->max_ns ? end : histogram->max_ns;
		}
	}
	return histogram->max_ns;
}
