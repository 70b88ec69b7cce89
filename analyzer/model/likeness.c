/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"
#include "model/alike.h"

/* The lists of both comparisons, and in which list each item is, or -1. */
struct lists {
	struct rcore_alike *same, *similar;
	size_t same_count, similar_count;
	int *same_of, *similar_of;
};

static int *number(const struct rcore_alike *lists, size_t count, size_t items)
{
	int *ret = rcore_calloc(items, sizeof(*ret));
	for (size_t i = 0; ret && i < items; i++)
		ret[i] = -1;
	for (size_t i = 0; ret && i < count; i++)
		for (size_t j = 0; j < lists[i].count; j++)
			ret[lists[i].items[j]] = (int)i;
	return ret;
}

static struct rcore_error *find(struct rcore_snapshot *snapshot,
				const struct rcore_comparison *same,
				const struct rcore_comparison *similar, struct lists *ret)
{
	struct rcore_error *err =
		rcore_alike_find(snapshot, same, &ret->same, &ret->same_count);
	if (!err)
		err = rcore_alike_find(snapshot, similar, &ret->similar, &ret->similar_count);
	if (err)
		return err;
	ret->same_of = number(ret->same, ret->same_count, same->count);
	ret->similar_of = number(ret->similar, ret->similar_count, same->count);
	return ret->same_of && ret->similar_of ? NULL : rcore_error_no_memory();
}

/* Lists the similar items that are not in `same`. */
static bool add_others(const struct lists *lists, size_t index, struct rcore_arena *arena,
		       struct rcore_likeness *ret)
{
	const struct rcore_alike *same = &lists->same[index];
	int class = lists->similar_of[same->items[0]];
	const struct rcore_alike *similar = class < 0 ? NULL : &lists->similar[class];
	if (!similar || similar->count <= same->count)
		return true;
	struct rcore_alike *listed = &ret->similar;
	ret->similar_count = similar->count - same->count;
	size_t room = ret->similar_count < RCORE_SIMILAR_LISTED ? ret->similar_count
								: RCORE_SIMILAR_LISTED;
	listed->items = rcore_arena_array(arena, room, sizeof(*listed->items));
	for (size_t i = 0; listed->items && listed->count < room; i++)
		if (lists->same_of[similar->items[i]] != (int)index)
			listed->items[listed->count++] = similar->items[i];
	return listed->items;
}

static bool describe(const struct lists *lists, bool merge, struct rcore_arena *arena,
		     struct rcore_likeness *ret)
{
	for (size_t i = 0; !merge && i < lists->same_count; i++) {
		ret[i].same = lists->same[i];
		if (!add_others(lists, i, arena, &ret[i]))
			return false;
	}
	for (size_t i = 0; merge && i < lists->similar_count; i++) {
		int same = lists->same_of[lists->similar[i].items[0]];
		ret[i].same = lists->similar[i];
		ret[i].differs = same < 0 || lists->same[same].count != ret[i].same.count;
	}
	return true;
}

struct rcore_error *rcore_likeness_find(struct rcore_snapshot *snapshot,
					const struct rcore_comparison *same,
					const struct rcore_comparison *similar, bool merge,
					struct rcore_likeness **ret, size_t *ret_count)
{
	struct lists lists = {0};
	struct rcore_likeness *likeness = NULL;
	struct rcore_error *err = find(snapshot, same, similar, &lists);
	size_t count = merge ? lists.similar_count : lists.same_count;
	if (!err) {
		likeness = rcore_calloc(count, sizeof(*likeness));
		if (!likeness || !describe(&lists, merge, &snapshot->arena, likeness))
			err = rcore_error_no_memory();
	}
	free(lists.same);
	free(lists.similar);
	free(lists.same_of);
	free(lists.similar_of);
	if (err) {
		free(likeness);
		return err;
	}
	*ret = likeness;
	*ret_count = count;
	return NULL;
}
