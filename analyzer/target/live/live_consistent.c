/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/page_buffer.h"
#include "target/live/live_private.h"

enum {
	FIBERS = 64, /* that are read at once */
	STACKS = 2,
	ATTEMPTS = 3,
	/* Of a struct: larger reads are not answered from the copy. */
	HEAD_LIMIT = RCORE_LIVE_SCAN_SIZE,
	STACKS_LIMIT = 4 << 20, /* of one fiber */
	FIBER_LIMIT = 2 * (HEAD_LIMIT + STACKS_LIMIT),
	ROOM = 16 << 20,
};

/*
 * What is read of one fiber: the struct, runs of pages, the struct again, the
 * same runs again. The struct says whether the fiber is parked. If it is, both
 * times, but the fiber has run in between, then all that it wrote precedes the
 * second reading of the runs, which shows it, however long the thread had to
 * wait for a processor while the runs were read first. One moment remains:
 * fiber_store() of cont.c marks a fiber as suspended just before its registers
 * are saved.
 */
struct group {
	struct rcore_live_parked *parked;
	size_t first, runs; /* its first range */
	bool is_pending;    /* it must be read (again) */
};

struct batch {
	struct rcore_live *live;
	struct group groups[FIBERS];
	size_t count;
	struct {
		struct rcore_live_range *items;
		size_t count, capacity;
	} ranges;
	/* The first page of the range of the same index, or NULL. */
	struct {
		struct rcore_live_page **items;
		size_t count, capacity;
	} targets;
	uint8_t *room; /* ROOM bytes for the ranges, then HEAD_LIMIT bytes */
	size_t used;
	bool is_short; /* of memory */
};

static bool add_range(struct batch *batch, uint64_t start, uint64_t size,
		      struct rcore_live_page *target)
{
	if (size > ROOM - batch->used)
		return false;
	struct rcore_live_range *range = rcore_push(&batch->ranges);
	struct rcore_live_page **own = range ? rcore_push(&batch->targets) : NULL;
	batch->is_short = !own;
	if (batch->is_short)
		return false;
	*range = (struct rcore_live_range){
		.start = start, .size = size, .bytes = batch->room + batch->used};
	*own = target;
	batch->used += size;
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

/* Fails if not all runs may have been found. */
static bool add_runs(struct batch *batch, struct group *group)
{
	struct rcore_live_pages *all = &batch->live->pages;
	struct rcore_live_page *page;
	uint64_t bytes = 0;
	for (int i = 0; i < STACKS; i++) {
		uint64_t from = group->parked->stacks[i].start, pages;
		while ((pages = rcore_live_pages_next_resting(
				all, &from, group->parked->stacks[i].end, &page))) {
			bytes += pages * RCORE_LIVE_PAGE;
			if (bytes > STACKS_LIMIT ||
			    !add_range(batch, page->address, pages * RCORE_LIVE_PAGE, page))
				return false;
			group->runs++;
		}
	}
	return all->work_left > 0;
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

/* Adds the ranges of a group, or gives it up. */
static void add_group(struct batch *batch, struct group *group)
{
	size_t first = batch->ranges.count, used = batch->used;
	group->first = first;
	group->runs = 0;
	group->is_pending = head_size(group) <= HEAD_LIMIT && add_head(batch, group) &&
			    add_runs(batch, group) && add_head(batch, group) &&
			    repeat_runs(batch, group);
	if (group->is_pending)
		return;
	batch->ranges.count = batch->targets.count = first;
	batch->used = used;
}

static void clear(struct batch *batch)
{
	batch->ranges.count = batch->targets.count = batch->used = 0;
}

/* Adds as many groups as certainly fit. */
static void add_groups(struct batch *batch, struct rcore_live_parked *parked, size_t count)
{
	clear(batch);
	batch->count = 0;
	while (batch->count < FIBERS && batch->count < count && !batch->is_short &&
	       batch->used <= ROOM - FIBER_LIMIT) {
		struct group *group = &batch->groups[batch->count];
		*group = (struct group){.parked = &parked[batch->count++]};
		add_group(batch, group);
	}
}

static void add_pending(struct batch *batch)
{
	clear(batch);
	for (size_t i = 0; i < batch->count && !batch->is_short; i++)
		if (batch->groups[i].is_pending)
			add_group(batch, &batch->groups[i]);
}

static bool are_equal(const struct rcore_live_range *one, const struct rcore_live_range *other)
{
	return one->read == one->size && other->read == other->size &&
	       !memcmp(one->bytes, other->bytes, one->size);
}

/* Returns whether the struct is the one that was copied ahead. */
static bool is_copied(struct batch *batch, const struct rcore_live_range *head)
{
	uint8_t *known = batch->room + ROOM;
	return !rcore_read(&batch->live->pages.memory, head->start, known, head->size) &&
	       !memcmp(known, head->bytes, head->size);
}

/* Writes the bytes of a range to its pages. */
static void keep(const struct rcore_live_range *range, struct rcore_live_page *page)
{
	for (size_t done = 0; done < range->size; done += RCORE_LIVE_PAGE, page++) {
		memcpy(page->bytes, range->bytes + done, RCORE_LIVE_PAGE);
		page->has_digest = false;
	}
}

/*
 * Ends a group that is consistent, or whose fiber has run since it was copied
 * ahead. Others may be consistent the next time.
 */
static void check_group(struct batch *batch, struct group *group)
{
	const struct rcore_live_range *ranges = &batch->ranges.items[group->first];
	struct rcore_live_page *const *targets = &batch->targets.items[group->first];
	size_t runs = group->runs;
	const struct rcore_live_range *again = &ranges[runs + 1];
	if (!are_equal(&ranges[0], again) || !is_copied(batch, &ranges[0])) {
		group->is_pending = false;
		return;
	}
	for (size_t i = 1; i <= runs; i++)
		if (!are_equal(&ranges[i], &again[i]))
			return;
	for (size_t i = 1; i <= runs; i++)
		keep(&ranges[i], targets[i]);
	group->parked->is_consistent = true;
	group->is_pending = false;
}

static void read_batch(struct batch *batch)
{
	for (int i = 0; i < ATTEMPTS && batch->ranges.count && !batch->is_short; i++) {
		rcore_live_read_batch(&batch->live->memory, batch->ranges.items,
				      batch->ranges.count);
		for (size_t k = 0; k < batch->count; k++)
			if (batch->groups[k].is_pending)
				check_group(batch, &batch->groups[k]);
		add_pending(batch);
	}
}

void rcore_live_copy_consistent(struct rcore_live *live, struct rcore_live_parked *parked,
				size_t count)
{
	struct batch batch = {.live = live, .room = rcore_page_buffer(ROOM + HEAD_LIMIT)};
	batch.is_short = !batch.room;
	for (size_t i = 0; i < count && !batch.is_short; i += batch.count) {
		add_groups(&batch, &parked[i], count - i);
		read_batch(&batch);
	}
	free(batch.ranges.items);
	free(batch.targets.items);
	free(batch.room);
}
