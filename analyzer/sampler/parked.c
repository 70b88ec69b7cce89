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
 * compared in each round. If the thread of a fiber has not run since the last
 * round, neither has the fiber.
 */
enum {
	SECOND = 1000000000,
	ATTEMPTS = 3,
	FIRST_FRAMES = 512,
	DEEP_ROUNDS = 10,
};

void rcore_parked_free(struct rcore_parked *parked)
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
		thread->has_rested = now && now == thread->cpu_of_round;
		thread->cpu_of_round = now;
		sampler->have_all_rested &= thread->has_rested;
	}
}

static bool is_current(const struct rcore_parked *parked,
		       const struct rcore_sampled_thread *thread)
{
	return thread && thread->track.stack.ec == parked->track.stack.ec;
}

/*
 * Most fibers belong to the same thread as the one before. A fiber that the
 * tick has found on its thread is not parked, so nothing of it is read.
 */
static void find_threads(struct rcore_sampler *sampler)
{
	struct rcore_sampled_thread *last = NULL;
	for (size_t i = 0; i < sampler->parked.count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		if (!last || last->address != parked->last_thread)
			last = rcore_sampler_thread_at(sampler, parked->last_thread);
		parked->thread = last;
		parked->is_current = is_current(parked, last);
		parked->is_skipped =
			parked->is_current || (parked->is_resolved && last && last->has_rested);
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
		if (parked->is_skipped)
			continue;
		if (!rcore_piece_set(&parked->fiber, parked->address, size) ||
		    !rcore_piece_set(&parked->frames, parked->frames_from, parked->last_size))
			return false;
		want(round, &parked->fiber);
	}
	for (size_t i = 0; i < count; i++)
		if (!sampler->parked.items[i]->is_skipped &&
		    rcore_sampler_aim_context(&sampler->parked.items[i]->track.context, pieces))
			want(round, pieces[0]);
	for (size_t i = 0; i < count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		struct rcore_context_watch *context = &parked->track.context;
		if (!parked->is_skipped && context->is_copied && context->piece.size)
			want(round, &context->piece);
		if (!parked->is_skipped && parked->last_size)
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

enum fate { GONE, RUNS, RESTS, MOVED };

static enum fate fate_of(const struct rcore_sampler *sampler, struct rcore_parked *parked)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_piece *fiber = &parked->fiber;
	if (parked->is_skipped)
		return parked->is_current ? RUNS : RESTS;
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

/* Keeps the frames for the next comparison. */
static void keep(struct rcore_parked *parked)
{
	const struct rcore_stack *stack = &parked->track.stack;
	size_t size = stack->top - stack->cfp;
	uint8_t *grown = realloc(parked->last_frames, size + 1);
	parked->is_resolved = grown != NULL;
	if (!grown)
		return;
	parked->last_frames = grown;
	parked->last_size = size;
	parked->frames_from = stack->cfp;
	memcpy(grown, rcore_stack_frame(stack, stack->cfp), size);
}

/*
 * Many fibers that wait in one place wait for the same kind of thing. So this
 * is looked up once for each place, and leaves out which object it is.
 */
static uint32_t state_of(struct rcore_sampler *sampler, struct rcore_parked *parked)
{
	int known = rcore_address_map_get(&sampler->parked_states, parked->track.node);
	if (known >= 0)
		return (uint32_t)known;
	struct rcore_profile_state state = *rcore_profile_state_at(
		sampler->profile, rcore_sampler_parked_wait(sampler, parked));
	state.detail = 0;
	uint32_t number = rcore_profile_state(sampler->profile, &state);
	rcore_address_map_put(&sampler->parked_states, parked->track.node, (int)number);
	return number;
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

static void decode(struct rcore_sampler *sampler, struct rcore_parked *parked, uint64_t now)
{
	struct rcore_track *track = &parked->track;
	struct rcore_sampled_thread *thread = parked->thread;
	uint64_t object = rcore_piece_field(&parked->fiber, &sampler->layout->fiber.self);
	rcore_track_decode(sampler, track);
	track->thread = thread->track.thread;
	if (track->context.object != object)
		track->context.is_known = false;
	track->context.object = object;
	/* The stack was read after it. */
	track->context.is_copied = false;
	track->fiber =
		rcore_sampler_fiber(sampler, parked->address, object, thread, track->thread);
	rcore_sampler_labels(sampler, track, now);
	parked->state_number = state_of(sampler, parked);
	keep(parked);
}

/* Reads those that have run like threads. They may be running again. */
static struct rcore_error *read_moved(struct rcore_sampler *sampler,
				      struct rcore_parked **moved, size_t count, uint64_t now)
{
	struct rcore_stack **stacks = rcore_calloc(count, sizeof(*stacks));
	struct rcore_error *err = stacks ? NULL : rcore_error_no_memory();
	for (int attempt = 0; !err && count && attempt < ATTEMPTS; attempt++) {
		size_t left = 0;
		for (size_t i = 0; i < count; i++)
			stacks[i] = &moved[i]->track.stack;
		err = rcore_stack_read(&sampler->reader, stacks, count, NULL, 0);
		for (size_t i = 0; !err && i < count; i++) {
			enum rcore_stack_verdict verdict =
				rcore_stack_check(&sampler->reader, &moved[i]->track.stack);
			if (verdict == RCORE_STACK_GOOD)
				decode(sampler, moved[i], now);
			else if (verdict == RCORE_STACK_MOVED || verdict == RCORE_STACK_TORN)
				moved[left++] = moved[i];
		}
		count = left;
	}
	free(stacks);
	return err;
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
		if (!parked->is_resolved)
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
	sampler->fiber_rounds++;
	find_threads(sampler);
	struct rcore_error *err = moved ? read_round(sampler) : rcore_error_no_memory();
	uint64_t now = rcore_clock_ns();
	for (size_t i = 0; !err && i < sampler->parked.count; i++) {
		struct rcore_parked *parked = sampler->parked.items[i];
		enum fate fate = fate_of(sampler, parked);
		if (fate == GONE) {
			leave(sampler, parked);
			rcore_parked_free(parked);
			continue;
		}
		if (fate != RESTS)
			parked->is_resolved = false;
		if (fate == RUNS)
			leave(sampler, parked);
		if (fate == MOVED)
			moved[moved_count++] = parked;
		if (fate == RESTS && !parked->is_skipped)
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
		err = read_moved(sampler, moved, moved_count, now);
	if (!err)
		add_samples(sampler, now);
	free(moved);
	return err;
}

RCORE_HOT struct rcore_error *rcore_sampler_parked(struct rcore_sampler *sampler, uint64_t now)
{
	double rate = sampler->options.fiber_rate;
	if (rate <= 0 || (double)(now - sampler->last_fibers) < SECOND / rate)
		return NULL;
	sampler->last_fibers = now;
	look_at_threads(sampler, now);
	struct rcore_error *err = rcore_parked_search(sampler, now);
	return err ? err : round_of(sampler);
}
