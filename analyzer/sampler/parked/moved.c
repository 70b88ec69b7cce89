/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "sampler/sampler_private.h"

/*
 * Reads the stacks of parked fibers that are seen to have run since they were
 * last read, and decodes them.
 */
enum { ATTEMPTS = 3 };

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

static void decode(struct rcore_sampler *sampler, struct rcore_parked *parked, uint64_t now)
{
	struct rcore_track *track = &parked->track;
	struct rcore_sampled_thread *thread = parked->thread;
	uint64_t object = rcore_piece_field(&parked->fiber, &sampler->layout->fiber.self);
	rcore_track_decode(sampler, track);
	track->thread = thread->track.thread;
	if (track->context.object != object) {
		track->context.is_known = false;
		/* Another fiber got the memory of one that has ended. */
		if (track->context.object)
			parked->begun = sampler->fiber_rounds;
	}
	track->context.object = object;
	/* The stack was read after it. */
	track->context.is_copied = false;
	track->fiber =
		rcore_sampler_fiber(sampler, parked->address, object, thread, track->thread);
	rcore_sampler_labels(sampler, track, now);
	parked->state_number = state_of(sampler, parked);
	keep(parked);
}

/*
 * Gives a fiber buffers for the parts of its stack that only decode() needs, or
 * takes them back. They are larger than all that is kept of a fiber.
 */
static void exchange_buffers(struct rcore_sampler *sampler, struct rcore_parked *const *moved,
			     size_t count)
{
	static const enum rcore_piece_id lent[RCORE_PARKED_LENT] = {
		RCORE_PIECE_VALUES, RCORE_PIECE_VALUES_AGAIN, RCORE_PIECE_FRAMES_AGAIN};
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < RCORE_COUNT(lent); k++) {
			struct rcore_piece *mine = &moved[i]->track.stack.pieces[lent[k]];
			struct rcore_piece theirs = sampler->lent[i][k];
			sampler->lent[i][k] = *mine;
			*mine = theirs;
		}
}

/* Reads those that have run like threads. They may be running again. */
static struct rcore_error *read_some(struct rcore_sampler *sampler,
				     struct rcore_parked *const *moved, size_t count,
				     uint64_t now)
{
	struct rcore_stack *stacks[RCORE_PARKED_TOGETHER];
	struct rcore_parked *left[RCORE_PARKED_TOGETHER];
	struct rcore_error *err = NULL;
	size_t used = count;
	memcpy(left, moved, count * sizeof(*left));
	exchange_buffers(sampler, moved, count);
	for (int attempt = 0; !err && used && attempt < ATTEMPTS; attempt++) {
		size_t reads = used;
		for (size_t i = 0; i < reads; i++)
			stacks[i] = &left[i]->track.stack;
		err = rcore_stack_read(&sampler->reader, stacks, reads, NULL, 0);
		used = 0;
		rcore_cache_drop(sampler->pages);
		for (size_t i = 0; !err && i < reads; i++) {
			enum rcore_stack_verdict verdict =
				rcore_stack_check(&sampler->reader, &left[i]->track.stack);
			if (verdict == RCORE_STACK_GOOD)
				decode(sampler, left[i], now);
			else if (verdict == RCORE_STACK_MOVED || verdict == RCORE_STACK_TORN)
				left[used++] = left[i];
		}
	}
	exchange_buffers(sampler, moved, count);
	return err;
}

struct rcore_error *rcore_parked_read_moved(struct rcore_sampler *sampler,
					    struct rcore_parked *const *moved, size_t count,
					    uint64_t now)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < count && !err; i += RCORE_PARKED_TOGETHER) {
		size_t some =
			count - i < RCORE_PARKED_TOGETHER ? count - i : RCORE_PARKED_TOGETHER;
		err = read_some(sampler, moved + i, some, now);
	}
	return err;
}
