/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/grow.h"
#include "base/hot.h"
#include "ruby/ruby.h"
#include "sampler/sampler_private.h"
#include "vm/find/fiber_search.h"
#include "vm/vm.h"

/*
 * Fibers that no thread runs. Several times a second, one call reads for each
 * of them the words that show whether it has run: its status, its saved cfp,
 * and its control frames. (A fiber that ran and parked again in the same place
 * of a loop may differ in a pc only.) Only a fiber that is seen to have run is
 * read like a thread and decoded. One that ran and parked with the same frames
 * shows no difference, but may work on something else now. So its labels are
 * compared, too. If the thread of a fiber has not run since the fiber was last
 * read, neither has the fiber.
 *
 * To find the frames and labels of 10,000 fibers for the first time takes some
 * hundred milliseconds, in which no thread would be sampled. So a round reads
 * one slice of the fibers after the other, and leaves the rest to the next tick
 * when this one's time for fibers is used up (options.fiber_time).
 */
enum {
	SECOND = 1000000000,
	DEEP_ROUNDS = 10,
	SLICE = 64,
};

static void free_one(struct rcore_parked *parked)
{
	free(parked->fiber.bytes);
	free(parked->frames.bytes);
	free(parked->last_frames);
	rcore_track_deinit(&parked->track);
	free(parked);
}

static size_t fiber_size(const struct rcore_sampler *sampler)
{
	const struct rcore_layout *layout = sampler->layout;
	size_t size = (size_t)layout->fiber.saved_ec.offset + sampler->reader.ec_size;
	const struct rcore_field *const fields[] = {&layout->fiber.status, &layout->fiber.self};
	size_t fiber_ptr =
		(size_t)layout->fiber.saved_ec.offset + rcore_field_end(&layout->ec.fiber_ptr);
	for (size_t i = 0; i < RCORE_COUNT(fields); i++)
		if (rcore_field_end(fields[i]) > size)
			size = rcore_field_end(fields[i]);
	return fiber_ptr > size ? fiber_ptr : size;
}

/* `tick` is when the tick began. */
static void look_at_threads(struct rcore_sampler *sampler, uint64_t tick)
{
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		/* The tick has just read it if it could and the thread runs. */
		bool is_known = thread->cpu && thread->cpu_looked >= tick;
		uint64_t now = is_known ? thread->cpu : rcore_thread_time_total(thread);
		bool has_rested = now && now == thread->cpu_of_round;
		if (!has_rested)
			thread->round_run = sampler->fiber_rounds;
		thread->cpu_of_round = now;
		sampler->have_all_rested &= has_rested;
	}
}

static bool is_current(const struct rcore_parked *parked,
		       const struct rcore_sampled_thread *thread)
{
	return thread && thread->track.stack.ec == parked->track.stack.ec;
}

/*
 * Most fibers belong to the same thread as the one before, `last`, which may be
 * NULL.
 */
static struct rcore_sampled_thread *thread_of(struct rcore_sampler *sampler,
					      const struct rcore_parked *parked,
					      struct rcore_sampled_thread *last)
{
	return last && last->address == parked->last_thread
		       ? last
		       : rcore_sampler_thread_at(sampler, parked->last_thread);
}

/*
 * Finds which fibers this round has to read, and samples those that cannot have
 * run. A fiber that the tick has found on its thread is not parked, so nothing
 * of it is read.
 */
static void choose(struct rcore_sampler *sampler)
{
	struct rcore_sampled_thread *thread = NULL;
	for (size_t i = 0; i < sampler->parked.count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		thread = thread_of(sampler, parked, thread);
		bool runs = is_current(parked, thread);
		bool has_rested =
			parked->is_resolved && thread && thread->round_run <= parked->round;
		parked->is_due = !runs && !has_rested && rcore_parked_has_turn(sampler, parked);
		if (runs) {
			parked->begun = sampler->fiber_rounds;
			rcore_parked_leave(sampler, parked, false);
		} else if (has_rested) {
			rcore_parked_add_sample(sampler, parked);
		}
		if (runs || parked->is_due)
			parked->round = sampler->fiber_rounds;
	}
}

/* Some fibers that are due, and what is read of them. */
struct slice {
	struct rcore_parked *items[SLICE];
	size_t count;
	struct rcore_live_range ranges[SLICE * (2 + RCORE_CONTEXT_PIECES)];
	struct rcore_piece *pieces[SLICE * (2 + RCORE_CONTEXT_PIECES)];
	size_t piece_count;
};

/* Takes the next fibers that are due. */
static void take(struct rcore_sampler *sampler, struct slice *slice)
{
	struct rcore_sampled_thread *thread = NULL;
	size_t *next = &sampler->turns.next;
	for (; *next < sampler->parked.count && slice->count < SLICE; ++*next) {
		struct rcore_parked *parked = sampler->parked.items[*next];
		if (!parked->is_due)
			continue;
		/* An earlier tick may have chosen it. */
		parked->thread = thread = thread_of(sampler, parked, thread);
		slice->items[slice->count++] = parked;
	}
}

static void want(struct slice *slice, struct rcore_piece *piece)
{
	slice->pieces[slice->piece_count] = piece;
	slice->ranges[slice->piece_count++] =
		(struct rcore_live_range){piece->start, piece->size, piece->bytes, 0};
}

/* Adds pieces of one kind together: many are near each other. */
static bool want_all(struct rcore_sampler *sampler, struct slice *slice)
{
	size_t size = fiber_size(sampler);
	struct rcore_piece *pieces[RCORE_CONTEXT_PIECES];
	for (size_t i = 0; i < slice->count; i++) {
		struct rcore_parked *parked = slice->items[i];
		if (!rcore_piece_set(&parked->fiber, parked->address, size) ||
		    !rcore_piece_set(&parked->frames, parked->frames_from, parked->last_size))
			return false;
		want(slice, &parked->fiber);
	}
	for (size_t i = 0; i < slice->count; i++)
		if (rcore_sampler_aim_context(&slice->items[i]->track.context, pieces))
			want(slice, pieces[0]);
	for (size_t i = 0; i < slice->count; i++) {
		struct rcore_parked *parked = slice->items[i];
		struct rcore_context_watch *context = &parked->track.context;
		if (context->is_copied && context->piece.size)
			want(slice, &context->piece);
		if (parked->last_size)
			want(slice, &parked->frames);
	}
	return true;
}

/* Reads the fibers, their contexts, and their frames of the last round. */
static struct rcore_error *read_slice(struct rcore_sampler *sampler, struct slice *slice)
{
	if (!want_all(sampler, slice))
		return rcore_error_no_memory();
	rcore_live_read_near(sampler->live, slice->ranges, slice->piece_count);
	for (size_t i = 0; i < slice->piece_count; i++)
		slice->pieces[i]->read = slice->ranges[i].read;
	return NULL;
}

static uint64_t ec_word(const struct rcore_sampler *sampler, const struct rcore_parked *parked,
			const struct rcore_field *field)
{
	const struct rcore_field within = {.offset = sampler->layout->fiber.saved_ec.offset +
						     field->offset,
					   .size = field->size};
	return rcore_piece_field(&parked->fiber, &within);
}

enum fate { GONE, RUNS, RESTS, MOVED };

static enum fate fate_of(const struct rcore_sampler *sampler, struct rcore_parked *parked)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_piece *fiber = &parked->fiber;
	if (fiber->read < fiber->size ||
	    (uint32_t)rcore_piece_field(fiber, &layout->fiber.type) != RCORE_FIBER_CONTEXT ||
	    ec_word(sampler, parked, &layout->ec.fiber_ptr) != parked->address)
		return GONE;
	uint64_t status = rcore_piece_field(fiber, &layout->fiber.status);
	if (status == RCORE_FIBER_TERMINATED)
		return GONE;
	uint64_t owner = ec_word(sampler, parked, &layout->ec.thread_ptr);
	if (owner != parked->last_thread || !parked->thread)
		parked->thread = rcore_sampler_thread_at(sampler, owner);
	parked->last_thread = owner;
	const struct rcore_sampled_thread *thread = parked->thread;
	/* A fiber that an ended thread left parked waits for nothing. */
	if (status == RCORE_FIBER_CREATED || !thread || is_current(parked, thread))
		return RUNS;
	uint64_t words[] = {ec_word(sampler, parked, &layout->ec.vm_stack),
			    ec_word(sampler, parked, &layout->ec.vm_stack_size),
			    ec_word(sampler, parked, &layout->ec.cfp), status,
			    rcore_piece_field(fiber, &layout->fiber.self)};
	bool is_same = !memcmp(words, parked->last_words, sizeof(words)) &&
		       parked->frames.read == parked->last_size &&
		       !memcmp(parked->frames.bytes, parked->last_frames, parked->last_size);
	memcpy(parked->last_words, words, sizeof(words));
	return parked->is_resolved && is_same ? RESTS : MOVED;
}

/*
 * Finds the labels of a fiber that has the frames of the last round. Its
 * context is looked up in depth in one of DEEP_ROUNDS rounds.
 */
static void compare_labels(struct rcore_sampler *sampler, struct rcore_parked *parked,
			   uint64_t now)
{
	struct rcore_track *track = &parked->track;
	bool is_deep = (sampler->fiber_rounds + parked->number) % DEEP_ROUNDS == 0;
	/* As if only the frames had been copied, which are the same. */
	track->stack.is_light = true;
	track->stack.pieces[RCORE_PIECE_VALUES].read = 0;
	track->has_changed = false;
	rcore_sampler_labels(sampler, track, is_deep ? now : track->context.looked);
}

void rcore_parked_free_all(struct rcore_sampler *sampler)
{
	for (size_t i = 0; i < sampler->parked.count; i++)
		free_one(sampler->parked.items[i]);
	free(sampler->parked.items);
	for (size_t i = 0; i < RCORE_PARKED_TOGETHER; i++)
		for (size_t k = 0; k < RCORE_PARKED_LENT; k++)
			free(sampler->lent[i][k].bytes);
}

/* Decodes a slice and samples it. Marks the fibers that have ended. */
static struct rcore_error *look_at(struct rcore_sampler *sampler, struct slice *slice)
{
	struct rcore_parked *moved[SLICE];
	size_t moved_count = 0;
	struct rcore_error *err = read_slice(sampler, slice);
	uint64_t now = rcore_clock_ns();
	/* Labels must not be older than the frames that were just read. */
	rcore_cache_drop(sampler->pages);
	for (size_t i = 0; !err && i < slice->count; i++) {
		struct rcore_parked *parked = slice->items[i];
		enum fate fate = fate_of(sampler, parked);
		if (fate != RESTS)
			parked->is_resolved = false;
		if (fate == RUNS || fate == GONE)
			rcore_parked_leave(sampler, parked, fate == GONE);
		parked->is_gone = fate == GONE;
		if (fate == MOVED)
			moved[moved_count++] = parked;
		if (fate == RESTS)
			compare_labels(sampler, parked, now);
	}
	if (!err)
		err = rcore_parked_read_moved(sampler, moved, moved_count, now);
	for (size_t i = 0; !err && i < slice->count; i++)
		if (slice->items[i]->is_resolved)
			rcore_parked_add_sample(sampler, slice->items[i]);
	return err;
}

static struct rcore_error *drop_gone(struct rcore_sampler *sampler)
{
	size_t kept = 0, count = sampler->parked.count;
	for (size_t i = 0; i < count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		if (parked->is_gone)
			free_one(parked);
		else
			sampler->parked.items[kept++] = parked;
	}
	sampler->parked.count = kept;
	if (kept == count)
		return NULL;
	rcore_address_map_deinit(&sampler->parked_at);
	for (size_t i = 0; i < kept; i++)
		if (!rcore_address_map_put(&sampler->parked_at,
					   sampler->parked.items[i]->address, 1))
			return rcore_error_no_memory();
	return NULL;
}

/*
 * Continues a round until it is complete, or a slice was read and it is later
 * than `deadline`.
 */
static struct rcore_error *go_on(struct rcore_sampler *sampler, uint64_t deadline)
{
	struct rcore_error *err = NULL;
	rcore_parked_measure_turns(sampler);
	while (!err && sampler->turns.next < sampler->parked.count) {
		struct slice slice;
		slice.count = slice.piece_count = 0;
		take(sampler, &slice);
		if (slice.count)
			err = look_at(sampler, &slice);
		if (rcore_clock_ns() >= deadline)
			break;
	}
	rcore_parked_add_cost(sampler);
	if (err || sampler->turns.next < sampler->parked.count)
		return err;
	sampler->turns.is_open = false;
	rcore_parked_end_turns(sampler);
	return drop_gone(sampler);
}

/*
 * `tick` is when the tick began. The samples have `time`, or if that is 0, the
 * time at which the list of fibers is known.
 */
static struct rcore_error *begin_round(struct rcore_sampler *sampler, uint64_t tick,
				       uint64_t time)
{
	sampler->last_fibers = tick;
	sampler->fiber_rounds++;
	look_at_threads(sampler, tick);
	struct rcore_error *err = rcore_parked_search(sampler, tick);
	if (err)
		return err;
	rcore_parked_begin_turns(sampler, time ? time : rcore_clock_ns());
	choose(sampler);
	rcore_parked_add_cost(sampler);
	return NULL;
}

static bool is_due(const struct rcore_sampler *sampler, uint64_t now)
{
	const struct rcore_sampler_options *options = &sampler->options;
	/*
	 * The first round is not put off: until it begins, no sample represents
	 * the time of the fibers.
	 */
	if (options->fiber_time && !*options->fiber_time && sampler->fiber_rounds)
		return false;
	return sampler->turns.is_open ||
	       (options->fiber_rate > 0 &&
		(double)(now - sampler->last_fibers) >= SECOND / options->fiber_rate);
}

RCORE_HOT struct rcore_error *rcore_sampler_parked(struct rcore_sampler *sampler, uint64_t now)
{
	uint64_t *left = sampler->options.fiber_time;
	if (!is_due(sampler, now))
		return NULL;
	const uint64_t begun = rcore_clock_ns();
	struct rcore_error *err = sampler->turns.is_open ? NULL : begin_round(sampler, now, 0);
	if (!err)
		err = go_on(sampler, left ? begun + *left : UINT64_MAX);
	const uint64_t used = rcore_clock_ns() - begun;
	if (left)
		*left -= used < *left ? used : *left;
	return err;
}

struct rcore_error *rcore_parked_end(struct rcore_sampler *sampler, uint64_t time)
{
	/* Its samples have the time at which it began: another one follows. */
	bool was_open = sampler->turns.is_open;
	struct rcore_error *err = was_open ? go_on(sampler, UINT64_MAX) : NULL;
	if (err || (!was_open && sampler->turns.every <= 1))
		return err;
	sampler->turns.every = 1;
	err = begin_round(sampler, time, time);
	return err ? err : go_on(sampler, UINT64_MAX);
}
