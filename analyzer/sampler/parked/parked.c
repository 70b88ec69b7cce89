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
 */
enum {
	SECOND = 1000000000,
	DEEP_ROUNDS = 10,
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

/* In this round. */
static bool is_read(const struct rcore_parked *parked)
{
	return !parked->is_current && !parked->has_rested && !parked->is_left;
}

/*
 * Finds the thread of each fiber, and which fibers to read. Most fibers belong
 * to the same thread as the one before. A fiber that the tick has found on its
 * thread is not parked, so nothing of it is read.
 */
static void choose(struct rcore_sampler *sampler)
{
	struct rcore_sampled_thread *last = NULL;
	for (size_t i = 0; i < sampler->parked.count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		if (!last || last->address != parked->last_thread)
			last = rcore_sampler_thread_at(sampler, parked->last_thread);
		parked->thread = last;
		parked->is_current = is_current(parked, last);
		parked->has_rested =
			parked->is_resolved && last && last->round_run <= parked->round;
		parked->is_left = !parked->is_current && !parked->has_rested &&
				  !rcore_parked_has_turn(sampler, parked);
		if (parked->is_current)
			parked->begun = sampler->fiber_rounds;
		if (is_read(parked) || parked->is_current)
			parked->round = sampler->fiber_rounds;
	}
}

/* What one round reads. */
struct round {
	struct rcore_live_range *ranges;
	struct rcore_piece **pieces;
	size_t count;
};

static void want(struct round *round, struct rcore_piece *piece)
{
	round->pieces[round->count] = piece;
	round->ranges[round->count++] =
		(struct rcore_live_range){piece->start, piece->size, piece->bytes, 0};
}

/* Adds pieces of one kind together: many are near each other. */
static bool want_all(struct rcore_sampler *sampler, struct round *round)
{
	size_t size = fiber_size(sampler), count = sampler->parked.count;
	struct rcore_piece *pieces[RCORE_CONTEXT_PIECES];
	for (size_t i = 0; i < count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		if (!is_read(parked))
			continue;
		if (!rcore_piece_set(&parked->fiber, parked->address, size) ||
		    !rcore_piece_set(&parked->frames, parked->frames_from, parked->last_size))
			return false;
		want(round, &parked->fiber);
	}
	for (size_t i = 0; i < count; i++)
		if (is_read(sampler->parked.items[i]) &&
		    rcore_sampler_aim_context(&sampler->parked.items[i]->track.context, pieces))
			want(round, pieces[0]);
	for (size_t i = 0; i < count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		struct rcore_context_watch *context = &parked->track.context;
		if (is_read(parked) && context->is_copied && context->piece.size)
			want(round, &context->piece);
		if (is_read(parked) && parked->last_size)
			want(round, &parked->frames);
	}
	return true;
}

/* Reads the fibers, their contexts, and their frames of the last round. */
static struct rcore_error *read_round(struct rcore_sampler *sampler)
{
	size_t most = sampler->parked.count * (2 + RCORE_CONTEXT_PIECES);
	struct round round = {
		.ranges = rcore_calloc(most, sizeof(*round.ranges)),
		.pieces = rcore_calloc(most, sizeof(*round.pieces)),
	};
	bool has_room = round.ranges && round.pieces && want_all(sampler, &round);
	if (has_room && round.count)
		rcore_live_read_near(sampler->live, round.ranges, round.count);
	for (size_t i = 0; has_room && i < round.count; i++)
		round.pieces[i]->read = round.ranges[i].read;
	free(round.ranges);
	free(round.pieces);
	return has_room ? NULL : rcore_error_no_memory();
}

static uint64_t ec_word(const struct rcore_sampler *sampler, const struct rcore_parked *parked,
			const struct rcore_field *field)
{
	const struct rcore_field within = {.offset = sampler->layout->fiber.saved_ec.offset +
						     field->offset,
					   .size = field->size};
	return rcore_piece_field(&parked->fiber, &within);
}

enum fate { GONE, RUNS, RESTS, MOVED, LEFT };

static enum fate fate_of(const struct rcore_sampler *sampler, struct rcore_parked *parked)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_piece *fiber = &parked->fiber;
	if (!is_read(parked))
		return parked->is_current ? RUNS : parked->is_left ? LEFT : RESTS;
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
			   size_t index, uint64_t now)
{
	struct rcore_track *track = &parked->track;
	bool is_deep = (sampler->fiber_rounds + index) % DEEP_ROUNDS == 0;
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

static void leave(struct rcore_sampler *sampler, struct rcore_parked *parked)
{
	rcore_track_settle(sampler, &parked->track);
	parked->since = 0;
	parked->is_resolved = false;
}

static void add_samples(struct rcore_sampler *sampler, uint64_t now)
{
	for (size_t i = 0; i < sampler->parked.count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		if (!parked->is_resolved || parked->is_left)
			continue;
		rcore_track_add(sampler, &parked->track, parked->track.node,
				parked->state_number, parked->since, now, 0, 0);
		parked->since = now;
		sampler->statistics.parked++;
	}
}

static struct rcore_error *round_of(struct rcore_sampler *sampler)
{
	struct rcore_parked **moved = rcore_calloc(sampler->parked.count, sizeof(*moved));
	size_t kept = 0, moved_count = 0;
	rcore_parked_begin_turns(sampler);
	choose(sampler);
	struct rcore_error *err = moved ? read_round(sampler) : rcore_error_no_memory();
	uint64_t now = rcore_clock_ns();
	for (size_t i = 0; !err && i < sampler->parked.count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		enum fate fate = fate_of(sampler, parked);
		if (fate == GONE) {
			leave(sampler, parked);
			free_one(parked);
			continue;
		}
		if (fate != RESTS && fate != LEFT)
			parked->is_resolved = false;
		if (fate == RUNS)
			leave(sampler, parked);
		if (fate == MOVED)
			moved[moved_count++] = parked;
		if (fate == RESTS && is_read(parked))
			compare_labels(sampler, parked, i, now);
		sampler->parked.items[kept++] = parked;
	}
	if (!err) {
		bool is_less = kept < sampler->parked.count;
		sampler->parked.count = kept;
		if (is_less)
			rcore_address_map_deinit(&sampler->parked_at);
		for (size_t i = 0; is_less && i < kept; i++)
			if (!rcore_address_map_put(&sampler->parked_at,
						   sampler->parked.items[i]->address, 1))
				err = rcore_error_no_memory();
	}
	if (!err)
		err = rcore_parked_read_moved(sampler, moved, moved_count, now);
	if (!err)
		add_samples(sampler, now);
	free(moved);
	rcore_parked_end_turns(sampler);
	return err;
}

RCORE_HOT struct rcore_error *rcore_sampler_parked(struct rcore_sampler *sampler, uint64_t now)
{
	double rate = sampler->options.fiber_rate;
	if (rate <= 0 || (double)(now - sampler->last_fibers) < SECOND / rate)
		return NULL;
	sampler->last_fibers = now;
	sampler->fiber_rounds++;
	look_at_threads(sampler, now);
	struct rcore_error *err = rcore_parked_search(sampler, now);
	return err ? err : round_of(sampler);
}

struct rcore_error *rcore_sampler_end_fibers(struct rcore_sampler *sampler)
{
	if (sampler->turns.every <= 1)
		return NULL;
	sampler->turns.every = 1;
	sampler->last_fibers = 0;
	return rcore_sampler_parked(sampler, rcore_clock_ns());
}
