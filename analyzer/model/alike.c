/* SPDX-License-Identifier: MIT */
#include "model/alike.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

#include "base/arena.h"

/* Items that are the same, while they are counted. */
struct class
{
	uint64_t hash;
	size_t first;
	size_t count;
	int place; /* in the result; -1 for an item that stays alone */
	bool lost; /* memory was short */
	UT_hash_handle hh;
};

/*
 * Sets the class of each item, or -1 for none. Returns false if memory is
 * short.
 */
static bool classify(const struct rcore_snapshot *snapshot,
		     const struct rcore_comparison *comparison, struct class *classes,
		     int *class_of)
{
	struct class *table = NULL;
	bool lost = false;
	int used = 0;
	for (size_t i = 0; i < comparison->count && !lost; i++) {
		struct class *found;
		uint64_t hash;
		class_of[i] = -1;
		if (!comparison->hash(snapshot, i, &hash))
			continue;
		HASH_FIND(hh, table, &hash, sizeof(hash), found);
		if (!found) {
			found = &classes[used++];
			*found = (struct class){.hash = hash, .first = i, .place = -1};
			HASH_ADD(hh, table, hash, sizeof(found->hash), found);
			lost = found->lost;
		} else if (!comparison->is_same(snapshot, found->first, i)) {
			continue;
		}
		found->count++;
		class_of[i] = (int)(found - classes);
	}
	HASH_CLEAR(hh, table);
	return !lost;
}

/* Numbers the classes of two or more, and makes room for their items. */
static bool number(struct rcore_snapshot *snapshot, size_t count, struct class *classes,
		   const int *class_of, struct rcore_alike *alike, size_t *ret_count)
{
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct class *class = class_of[i] < 0 ? NULL : &classes[class_of[i]];
		if (!class || class->first != i || class->count < 2)
			continue;
		alike[used].items =
			rcore_arena_alloc(&snapshot->arena, class->count * sizeof(int));
		if (!alike[used].items)
			return false;
		class->place = (int)used++;
	}
	*ret_count = used;
	return true;
}

static void fill(size_t count, const struct class *classes, const int *class_of,
		 struct rcore_alike *alike)
{
	for (size_t i = 0; i < count; i++) {
		int place = class_of[i] < 0 ? -1 : classes[class_of[i]].place;
		if (place >= 0)
			alike[place].items[alike[place].count++] = (int)i;
	}
}

struct rcore_error *rcore_alike_find(struct rcore_snapshot *snapshot,
				     const struct rcore_comparison *comparison,
				     struct rcore_alike **ret, size_t *ret_count)
{
	size_t count = comparison->count;
	*ret = NULL;
	*ret_count = 0;
	if (!count)
		return NULL;
	struct class *classes = calloc(count, sizeof(*classes));
	int *class_of = calloc(count, sizeof(*class_of));
	struct rcore_alike *alike = calloc(count, sizeof(*alike));
	bool done = classes && class_of && alike &&
		    classify(snapshot, comparison, classes, class_of) &&
		    number(snapshot, count, classes, class_of, alike, ret_count);
	if (done)
		fill(count, classes, class_of, alike);
	free(classes);
	free(class_of);
	if (done && *ret_count) {
		*ret = alike;
		return NULL;
	}
	free(alike);
	*ret_count = 0;
	return done ? NULL : rcore_error_no_memory();
}
