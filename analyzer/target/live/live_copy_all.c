/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/clock.h"
#include "target/live/live_explain.h"
#include "target/live/live_private.h"

enum {
	/* Bytes that are copied to measure the speed, and how often. */
	SAMPLE = 256 << 20,
	SAMPLE_COUNT = 3,
	/* Bytes for pages that the program allocates before it is stopped. */
	MORE = 64 << 20,
};

static double megabytes(uint64_t bytes)
{
	return (double)bytes / 1e6;
}

static unsigned limit_of(const struct rcore_live *live)
{
	return live->most && live->most < RCORE_STOP_LIMIT_MS ? live->most
							      : RCORE_STOP_LIMIT_MS;
}

/* Returns how many bytes to allocate for the copy: it may grow meanwhile. */
static uint64_t needed(const struct rcore_live *live)
{
	return (uint64_t)live->copy.size / 4 * 5 + MORE;
}

/* Finds what is mapped now, and which pages of it must be copied. */
static struct rcore_error *find(struct rcore_live *live)
{
	struct rcore_live_maps maps;
	int errnum = rcore_live_maps_read(live->folder, live->memory.task, &live->arena, &maps);
	/* A process that ends loses its memory first, then its /proc/PID. */
	if (!errnum && !maps.region_count)
		errnum = ESRCH;
	if (errnum)
		return rcore_live_explain(live->pid, live->folder, errnum);
	/*
	 * live->maps.mappings stays as it was when the process was opened: the
	 * modules refer to it.
	 */
	live->maps.regions = maps.regions;
	live->maps.region_count = maps.region_count;
	errnum = rcore_live_copy_find(&live->copy, live->folder, &live->maps);
	if (errnum == E2BIG)
		return rcore_error_create(
			RCORE_ERROR_LIMIT,
			"process %d has more than %llu pages mapped, too many to search for "
			"what it has written; write a core with gcore %d and read that",
			live->pid, (unsigned long long)RCORE_LIVE_COPY_PAGES, live->pid);
	return errnum ? rcore_error_no_memory() : NULL;
}

static struct rcore_error *check_room(const struct rcore_live *live)
{
	struct rcore_live_room room;
	rcore_live_room_find("", &room);
	if (needed(live) <= room.bytes)
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"a copy of the %.0f MB of process %d needs %.0f MB of memory, and only %.0f MB "
		"are free (%s); write a core with gcore %d and read that",
		megabytes(live->copy.size), live->pid, megabytes(needed(live)),
		megabytes(room.bytes), room.limit, live->pid);
}

/*
 * Estimates how many nanoseconds the copy will take, from a part that it copies
 * while the process runs. The fastest of several attempts counts, because other
 * programs may have slowed down the others. `scan` is how long find() took.
 */
static uint64_t estimate(struct rcore_live *live, uint64_t scan)
{
	const size_t size = live->copy.size < SAMPLE ? live->copy.size : SAMPLE;
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < SAMPLE_COUNT && size; i++) {
		uint64_t begin = rcore_clock_ns();
		size_t done = rcore_live_copy_fill(&live->copy, &live->memory, size);
		uint64_t elapsed = rcore_clock_ns() - begin;
		uint64_t whole = done ? (uint64_t)((double)elapsed / (double)done *
						   (double)live->copy.size)
				      : UINT64_MAX;
		least = whole < least ? whole : least;
	}
	return (least == UINT64_MAX ? 0 : least) + scan;
}

static struct rcore_error *check_duration(struct rcore_live *live, uint64_t scan)
{
	const unsigned limit = limit_of(live);
	uint64_t nanoseconds = estimate(live, scan);
	if (nanoseconds / 1000000 < limit)
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"copying the %.0f MB of process %d would stop it for some %.0f ms, which is "
		"over the limit of %u (--max-pause, at most %d); %swrite a core with gcore %d "
		"and read that",
		megabytes(live->copy.size), live->pid, (double)nanoseconds / 1e6, limit,
		RCORE_STOP_LIMIT_MS, limit < RCORE_STOP_LIMIT_MS ? "raise it, or " : "",
		live->pid);
}

/* Returns an error that says why only `done` bytes were copied. */
static struct rcore_error *explain_rest(struct rcore_live *live, size_t done)
{
	const size_t size = live->copy.size;
	struct rcore_error *err = live->memory.is_gone
					  ? rcore_live_explain(live->pid, live->folder, ESRCH)
					  : rcore_live_check(live);
	if (err)
		return err;
	if (size > live->copy.room)
		return rcore_error_create(
			RCORE_ERROR_LIMIT,
			"process %d grew to %.0f MB before it was stopped, and rcore had "
			"allocated %.0f MB; try again, or write a core with gcore %d and read "
			"that",
			live->pid, megabytes(size), megabytes(live->copy.room), live->pid);
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"process %d was resumed at the limit of %u ms (--max-pause, at most %d), when "
		"only %.0f of %.0f MB were copied; try again, or write a core with gcore %d "
		"and read that",
		live->pid, limit_of(live), RCORE_STOP_LIMIT_MS, megabytes(done),
		megabytes(size), live->pid);
}

static struct rcore_error *copy_stopped(struct rcore_live *live)
{
	struct rcore_error *err = find(live);
	if (err)
		return err;
	size_t done = rcore_live_copy_fill(&live->copy, &live->memory, live->copy.size);
	bool is_filled = done == live->copy.size;
	if (is_filled && !rcore_live_copy_finish(&live->copy, &live->memory))
		return rcore_error_no_memory();
	if (is_filled && !live->memory.is_gone && rcore_stop_is_held(live->stop))
		return NULL;
	return explain_rest(live, done);
}

/* Describes the copy as the segments that a core would have. */
static struct rcore_error *set_segments(struct rcore_live *live)
{
	struct rcore_segment *segments =
		rcore_arena_array(&live->arena, live->maps.region_count, sizeof(*segments));
	if (!segments)
		return rcore_error_no_memory();
	for (size_t i = 0; rcore_live_segment(live, i, &segments[i]); i++)
		segments[i].saved = live->maps.regions[i].is_private ? segments[i].size : 0;
	live->process.segments = segments;
	live->process.segment_count = live->maps.region_count;
	return NULL;
}

struct rcore_error *rcore_live_prepare_copy(struct rcore_live *live)
{
	rcore_live_forget(live);
	uint64_t begin = rcore_clock_ns();
	struct rcore_error *err = find(live);
	uint64_t scan = rcore_clock_ns() - begin;
	if (!err)
		err = check_room(live);
	rcore_live_victim_begin(&live->victim);
	const size_t sample = live->copy.size < SAMPLE ? live->copy.size : SAMPLE;
	if (!err && !rcore_live_copy_prepare(&live->copy, sample + 1))
		err = rcore_error_no_memory();
	if (!err)
		err = check_duration(live, scan);
	if (!err && !rcore_live_copy_prepare(&live->copy, needed(live)))
		err = rcore_error_no_memory();
	return err;
}

struct rcore_error *rcore_live_copy_all(struct rcore_live *live, size_t *ret_bytes,
					struct rcore_live_pause *ret)
{
	struct rcore_error *err = rcore_live_begin(live, true);
	if (err)
		return err;
	err = copy_stopped(live);
	rcore_live_end(live, ret);
	if (!err)
		err = set_segments(live);
	if (err)
		return err;
	live->pages.copy = &live->copy;
	*ret_bytes = live->copy.size;
	return NULL;
}

bool rcore_live_copied(const struct rcore_live *live, uint64_t address,
		       struct rcore_live_part *ret)
{
	return live->pages.copy && rcore_live_copy_part(live->pages.copy, address, ret);
}
