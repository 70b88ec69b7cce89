/* SPDX-License-Identifier: MIT */
#include "heap/duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int compare_contents(const void *a, const void *b)
{
	const struct rcore_content *x = a, *y = b;
	int order = memcmp(x->hash, y->hash, sizeof(x->hash));
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int compare_wasted(const void *a, const void *b)
{
	const struct rcore_duplicate *x = a, *y = b;
	if (x->wasted != y->wasted)
		return x->wasted < y->wasted ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

static size_t end_of_group(const struct rcore_content *contents, size_t count, size_t first)
{
	size_t end = first + 1;
	while (end < count &&
	       memcmp(contents[end].hash, contents[first].hash, sizeof(contents->hash)) == 0)
		end++;
	return end;
}

struct rcore_error *rcore_duplicates_find(const struct rcore_heap *heap,
					  struct rcore_content *contents, size_t count,
					  struct rcore_duplicates *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (count)
		qsort(contents, count, sizeof(*contents), compare_contents);
	for (size_t first = 0, end; first < count; first = end) {
		end = end_of_group(contents, count, first);
		if (end - first == 1)
			continue;
		struct rcore_duplicate *group = rcore_push(ret);
		if (!group) {
			free(ret->items);
			memset(ret, 0, sizeof(*ret));
			return rcore_error_no_memory();
		}
		uint64_t least = UINT64_MAX;
		group->first = first;
		group->count = end - first;
		for (size_t i = first; i < end; i++) {
			uint64_t bytes = rcore_heap_bytes(heap, contents[i].node);
			group->bytes += bytes;
			least = bytes < least ? bytes : least;
		}
		group->wasted = group->bytes - least;
		ret->wasted += group->wasted;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_wasted);
	return NULL;
}
