/* SPDX-License-Identifier: MIT */
#include "ruby/search.h"

enum {
	CHUNK = 64 << 10,
	STEP = 4096, /* how much to skip if memory cannot be read */
};

static bool search_chunk(uint64_t start, const unsigned char *bytes, size_t count, size_t size,
			 rcore_search_test *test, void *context, uint64_t *ret)
{
	for (size_t i = 0; i + size <= count; i += sizeof(uint64_t)) {
		if (test(context, start + i, bytes + i, count - i)) {
			*ret = start + i;
			return true;
		}
	}
	return false;
}

bool rcore_search(struct rcore_ruby *ruby, uint64_t start, uint64_t end, size_t size,
		  rcore_search_test *test, void *context, uint64_t *ret)
{
	unsigned char bytes[CHUNK];
	if (!size || size > RCORE_SEARCH_SIZE_LIMIT)
		return false;
	start = (start + 7) & ~UINT64_C(7);
	/* What crosses the end of a chunk is found in the next one. */
	size_t overlap = (size + 7) & ~(size_t)7;
	while (start < end && end - start >= size) {
		size_t count = end - start < sizeof(bytes) ? end - start : sizeof(bytes);
		if (rcore_read(ruby->memory, start, bytes, count) != RCORE_FAULT_NONE) {
			/* Continues at the next page. */
			size_t step = STEP - start % STEP;
			count = step < count ? step : count;
			if (rcore_read(ruby->memory, start, bytes, count) != RCORE_FAULT_NONE) {
				start += count;
				continue;
			}
		}
		if (search_chunk(start, bytes, count, size, test, context, ret))
			return true;
		start += count > overlap && count < end - start ? count - overlap : count;
	}
	return false;
}

bool rcore_search_statics(struct rcore_ruby *ruby, size_t size, rcore_search_test *test,
			  void *context, uint64_t *ret)
{
	const struct rcore_statics *statics = &ruby->statics;
	for (size_t i = 0; i < statics->writable_count; i++)
		if (rcore_search(ruby, statics->writable[i].start, statics->writable[i].end,
				 size, test, context, ret))
			return true;
	return false;
}
