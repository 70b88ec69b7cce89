/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "target/live/live_private.h"

enum {
	FIBERS = 64, /* that are read at once */
	STACKS = 2,
	ATTEMPTS = 3,
	/* Of a struct, and of the stacks of one fiber. */
	HEAD_LIMIT = 64 << 10,
	STACKS_LIMIT = 4 << 20,
};

/*
 * What is read of one fiber: the struct, runs of pages, the same runs again,
 * the struct again.
 */
struct group {
	struct rcore_live_parked *parked;
	size_t first, runs; /* its first range */
	bool is_open;       /* it must be read (again) */
};

struct batch {
	struct rcore_live *live;
	struct group groups[FIBERS];
	size_t count;
	struct {
		struct rcore_live_range *items;
		size_t count, capacity;
	} ranges;
	/* The pages to which the range of the same index belongs, or NULL. */
	struct {
		uint8_t **items;
		size_t count, capacity;
	} targets;
	uint8_t *room;
	size_t room_size;
	bool is_short; /* of memory */
};

static bool add_range(struct batch *batch, uint64_t start, uint64_t size, uint8_t *target)
{
	struct rcore_live_range *range = rcore_push(&batch->ranges);
	uint8_t **own = range ? rcore_push(&batch->targets) : NULL;
	batch->is_short = !own;
	if (batch->is_short)
		return false;
	*range = (struct rcore_live_range){.start = start, .size = size};
	*own = target;
	return true;
}

static uint64_t head_size(const struct group *group)
{
	return group->parked->head.end - group->parked->head.start;
}

static bool add_head(struct batch *batch, const struct group *group)
{
	return add_range(batch, group->parked->head.start, head_size(group), NULL);
}

static bool add_runs(struct batch *batch, struct group *group)
{
	struct rcore_live_page *page;
	uint64_t bytes = 0;
	for (int i = 0; i < STACKS; i++) {
		uint64_t from = group->parked->stacks[i].start, pages;
		while ((pages = rcore_live_pages_next_resting(&batch->live->pages, &from,
							      group->parked->stacks[i].end,
							      &page))) {
			bytes += pages * RCORE_LIVE_PAGE;
			if (bytes > STACKS_LIMIT ||
			    !add_range(batch, page->address, pages * RCORE_LIVE_PAGE,
				       page->bytes))
				return false;
			group->runs++;
		}
	}
	return true;
}

static bool repeat_runs(struct batch *batch, const struct group *group)
{
	for (size_t i = 1; i <= group->runs; i++) {
		const struct rcore_live_range *run = &batch->ranges.items[group->first + i];
		if (!add_range(batch, run->start, run->size, NULL))
			return false;
	}
	return true;
}

/* Adds the ranges of a group, or closes it. */
static void add_group(struct batch *batch, struct group *group)
{
	size_t first = batch->ranges.count;
	group->first = first;
	group->runs = 0;
	group->is_open = head_size(group) <= HEAD_LIMIT && add_head(batch, group) &&
			 add_runs(batch, group) && repeat_runs(batch, group) &&
			 add_head(batch, group);
	if (!group->is_open)
		batch->ranges.count = batch->targets.count = first;
}

/* Gives each range its bytes. */
static void place(struct batch *batch)
{
	size_t size = 0;
	for (size_t i = 0; i < batch->ranges.count; i++)
		size += batch->ranges.items[i].size;
	if (size > batch->room_size) {
		free(batch->room);
		batch->room = malloc(size);
		batch->room_size = batch->room ? size : 0;
		batch->is_short = !batch->room;
	}
	uint8_t *bytes = batch->room;
	for (size_t i = 0; i < batch->ranges.count && !batch->is_short; i++) {
		batch->ranges.items[i].bytes = bytes;
		bytes += batch->ranges.items[i].size;
	}
}

static bool are_equal(const struct rcore_live_range *one, const struct rcore_live_range *other)
{
	return one->read == one->size && other->read == other->size &&
	       !memcmp(one->bytes, other->bytes, one->size);
}

/* Returns whether the struct is the one that was copied ahead. */
static bool is_copied(struct batch *batch, const struct rcore_live_range *head)
{
	uint8_t *known = malloc(head->size + 1);
	bool is_same =
		known &&
		!rcore_read(&batch->live->pages.memory, head->start, known, head->size) &&
		!memcmp(known, head->bytes, head->size);
	batch->is_short = !known;
	free(known);
	return is_same;
}

/*
 * Closes a group that is steady, or whose fiber has run since it was copied
 * ahead. Others may be steady the next time.
 */
static void judge(struct batch *batch, struct group *group)
{
	const struct rcore_live_range *ranges = &batch->ranges.items[group->first];
	uint8_t *const *targets = &batch->targets.items[group->first];
	size_t runs = group->runs;
	if (!are_equal(&ranges[0], &ranges[2 * runs + 1]) || !is_copied(batch, &ranges[0])) {
		group->is_open = false;
		return;
	}
	for (size_t i = 1; i <= runs; i++)
		if (!are_equal(&ranges[i], &ranges[runs + i]))
			return;
	for (size_t i = 1; i <= runs; i++)
		memcpy(targets[i], ranges[i].bytes, ranges[i].size);
	group->parked->is_steady = true;
	group->is_open = false;
}

static void read_batch(struct batch *batch)
{
	for (int attempt = 0; attempt < ATTEMPTS && !batch->is_short; attempt++) {
		batch->ranges.count = batch->targets.count = 0;
		for (size_t i = 0; i < batch->count && !batch->is_short; i++)
			if (batch->groups[i].is_open)
				add_group(batch, &batch->groups[i]);
		if (!batch->ranges.count || batch->is_short)
			break;
		place(batch);
		if (batch->is_short)
			break;
		rcore_live_read_batch(&batch->live->memory, batch->ranges.items,
				      batch->ranges.count);
		for (size_t i = 0; i < batch->count && !batch->is_short; i++)
			if (batch->groups[i].is_open)
				judge(batch, &batch->groups[i]);
	}
}

struct rcore_error *rcore_live_copy_steadily(struct rcore_live *live,
					     struct rcore_live_parked *parked, size_t count)
{
	struct batch batch = {.live = live};
	for (size_t i = 0; i < count && !batch.is_short; i += batch.count) {
		batch.count = count - i < FIBERS ? count - i : FIBERS;
		for (size_t k = 0; k < batch.count; k++)
			batch.groups[k] =
				(struct group){.parked = &parked[i + k], .is_open = true};
		read_batch(&batch);
	}
	free(batch.ranges.items);
	free(batch.targets.items);
	free(batch.room);
	return batch.is_short ? rcore_error_no_memory() : NULL;
}
