/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "heap/trails.h"

/* How many more objects each time; 0: not each time. */
static uint64_t grown(const struct rcore_trail *trail, unsigned sides)
{
	for (unsigned side = 1; side < sides; side++)
		if (trail->sides[side].count <= trail->sides[side - 1].count)
			return 0;
	return trail->sides[sides - 1].count - trail->sides[0].count;
}

static int64_t more_bytes(const struct rcore_trail *trail, unsigned sides)
{
	return (int64_t)(trail->sides[sides - 1].bytes - trail->sides[0].bytes);
}

static int compare(const void *a, const void *b)
{
	const struct rcore_growth *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->trail > y->trail) - (x->trail < y->trail);
}

/*
 * Whether a trail grew only because the one before it did: each new object
 * there brought at most one, or at most twice as many as all objects there have
 * on average.
 */
static bool is_explained(const struct rcore_trail *before, const struct rcore_trail *trail,
			 unsigned sides)
{
	uint64_t more = grown(trail, sides), above = grown(before, sides);
	double average = (double)trail->sides[sides - 1].count /
			 (double)(before->sides[sides - 1].count + 1);
	return above && (more <= above || (double)more <= 2 * average * (double)above);
}

/*
 * leader[T] is the growth that explains that of T: an index of ret->items. A
 * trail comes after the one before it.
 */
static bool find_leaders(const struct rcore_trails *trails, unsigned sides, uint32_t *leader,
			 struct rcore_growths *ret)
{
	for (uint32_t i = 0; i < trails->count; i++) {
		const struct rcore_trail *trail = &trails->items[i];
		uint64_t count = grown(trail, sides);
		uint32_t before = trail->before;
		bool is_led = count && before != RCORE_HEAP_NONE &&
			      is_explained(&trails->items[before], trail, sides);
		leader[i] = count ? (uint32_t)ret->count : RCORE_HEAP_NONE;
		if (is_led) {
			leader[i] = leader[before];
			ret->items[leader[i]].followers++;
		} else if (count) {
			struct rcore_growth *growth = rcore_push(ret);
			if (!growth)
				return false;
			*growth = (struct rcore_growth){.trail = i, .count = count};
		}
		if (count)
			ret->items[leader[i]].bytes += more_bytes(trail, sides);
	}
	return true;
}

struct rcore_error *rcore_trails_growth(const struct rcore_trails *trails, unsigned sides,
					struct rcore_growths *ret)
{
	memset(ret, 0, sizeof(*ret));
	uint32_t *leader = rcore_calloc(trails->count, sizeof(*leader));
	bool has_memory = leader && find_leaders(trails, sides, leader, ret);
	free(leader);
	if (!has_memory) {
		free(ret->items);
		memset(ret, 0, sizeof(*ret));
		return rcore_error_no_memory();
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	return NULL;
}
