/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/sampler_private.h"

#include "base/hot.h"

#define HASH_NONFATAL_OOM        1
#define uthash_nonfatal_oom(id_) ((id_)->is_lost = true)
#include <uthash.h>

enum { FRAME_LIMIT = 100000, FIBER_IDS = 1 << 20 };

uint32_t rcore_sampler_note(struct rcore_sampler *sampler, const char *label)
{
	struct rcore_profile *profile = sampler->profile;
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NOTE, .label = rcore_profile_string(profile, label)};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function), 0);
}

uint32_t rcore_sampler_no_stack(struct rcore_sampler *sampler)
{
	return rcore_profile_node(sampler->profile, 0,
				  rcore_sampler_note(sampler, "(no Ruby stack)"));
}

/* Returns the frame that replaces frames that are not known. */
static uint32_t partial_frame(struct rcore_sampler *sampler)
{
	if (!sampler->partial_frame)
		sampler->partial_frame =
			rcore_sampler_note(sampler, "(inner frames changed too fast)");
	return sampler->partial_frame;
}

uint32_t rcore_sampler_gc_node(struct rcore_sampler *sampler, uint32_t node)
{
	struct rcore_profile *profile = sampler->profile;
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_GC,
		.label = rcore_profile_string(profile, "(garbage collection)")};
	if (!sampler->gc_frame)
		sampler->gc_frame = rcore_profile_frame(
			profile, rcore_profile_function(profile, &function), 0);
	return rcore_profile_node(profile, node, sampler->gc_frame);
}

static RCORE_HOT bool reserve(struct rcore_track *track, size_t count, size_t step)
{
	if (count <= track->capacity)
		return true;
	size_t wanted = count + count / 2 + 8;
	uint8_t *frames = reallocarray(track->frames, wanted, step);
	if (frames)
		track->frames = frames;
	struct rcore_track_frame *known = reallocarray(track->known, wanted, sizeof(*known));
	if (known)
		track->known = known;
	if (!frames || !known)
		return false;
	track->capacity = wanted;
	return true;
}

RCORE_HOT bool rcore_track_is_same(const struct rcore_sampler *sampler,
				   const struct rcore_track *track)
{
	const struct rcore_stack *stack = &track->stack;
	size_t step = sampler->layout->cfp.size;
	if (track->count != (stack->top - stack->cfp) / step - 1)
		return false;
	for (size_t i = 0; i < track->count; i++)
		if (memcmp(track->frames + i * step,
			   rcore_stack_frame(stack, stack->top - (i + 2) * step), step))
			return false;
	return true;
}

RCORE_HOT void rcore_track_decode(struct rcore_sampler *sampler, struct rcore_track *track)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_stack *stack = &track->stack;
	size_t step = layout->cfp.size;
	/* The outermost frame is a dummy without code. */
	size_t count = stack->cfp ? (stack->top - stack->cfp) / step - 1 : 0;
	uint32_t node = track->outer_node, before = track->node;
	if (count > FRAME_LIMIT)
		count = FRAME_LIMIT;
	if (!reserve(track, count, step)) {
		track->count = 0;
		track->node = 0;
		return;
	}
	struct rcore_memory *process = sampler->copies.below;
	sampler->copies.stack = stack;
	sampler->copies.below = rcore_cache_memory(sampler->pages);
	bool is_same = track->drops == sampler->codes.drops;
	bool is_partial = stack->is_partial, has_environments = false;
	track->drops = sampler->codes.drops;
	size_t known = track->count;
	for (size_t i = 0; i < count; i++) {
		uint64_t cfp = stack->top - (i + 2) * step;
		const uint8_t *frame = rcore_stack_frame(stack, cfp);
		struct rcore_track_frame *now = &track->known[i];
		uint64_t environment = rcore_code_environment(layout, stack, frame);
		is_same = is_same && i < known && now->environment == environment &&
			  !memcmp(track->frames + i * step, frame, step);
		if (!is_same && !has_environments)
			rcore_sampler_read_environments(sampler, stack, i, count);
		has_environments |= !is_same;
		if (!is_same) {
			rcore_codes_find(&sampler->codes, stack, cfp, environment, &now->code);
			memcpy(track->frames + i * step, frame, step);
			now->environment = environment;
			now->has_flags = false;
			now->node = now->code.frame ? rcore_profile_node(sampler->profile, node,
									 now->code.frame)
						    : node;
		}
		bool is_dropped = i + 1 == count && !stack->is_partial &&
				  track->may_be_unfilled &&
				  !rcore_codes_is_filled(&sampler->codes, stack, &now->code);
		if (is_dropped) {
			count--;
			is_partial = true;
			sampler->statistics.unfilled++;
		} else {
			node = now->node;
		}
	}
	track->count = count;
	if (is_partial)
		node = rcore_profile_node(sampler->profile, node, partial_frame(sampler));
	track->node = node;
	track->has_changed = !is_same || known != count || node != before;
	rcore_sampler_end_environments(sampler);
	sampler->copies.below = process;
	sampler->copies.stack = NULL;
}

void rcore_track_forget(struct rcore_track *track)
{
	track->count = 0;
	track->node = track->thread = track->fiber = track->labels = 0;
	track->context.is_known = track->work.is_known = false;
	track->context.labels = track->work.labels = 0;
	track->work.node = 0;
}

RCORE_HOT void rcore_pending_write(struct rcore_sampler *sampler, struct rcore_pending *pending)
{
	if (pending->is_there && rcore_sampler_is_wanted(sampler, pending->sample.labels))
		rcore_profile_sample(sampler->profile, &pending->sample);
	pending->is_there = false;
}

void rcore_pending_add(struct rcore_sampler *sampler, struct rcore_pending *pending,
		       const struct rcore_profile_sample *sample)
{
	struct rcore_profile_sample *last = &pending->sample;
	bool is_like = pending->is_there && last->node == sample->node &&
		       last->state == sample->state && last->thread == sample->thread &&
		       last->fiber == sample->fiber && last->labels == sample->labels;
	if (!is_like) {
		rcore_pending_write(sampler, pending);
		pending->is_there = true;
		*last = *sample;
		return;
	}
	last->wall += sample->wall;
	last->cpu += sample->cpu;
	last->count += sample->count;
}

RCORE_HOT void rcore_track_settle(struct rcore_sampler *sampler, struct rcore_track *track)
{
	rcore_pending_write(sampler, &track->pending);
}

static RCORE_HOT bool is_like(const struct rcore_track *track, uint32_t node, uint32_t state)
{
	const struct rcore_profile_sample *sample = &track->pending.sample;
	return track->pending.is_there && sample->node == node && sample->state == state &&
	       sample->thread == track->thread && sample->fiber == track->fiber &&
	       sample->labels == track->labels;
}

/* A sample of a track that represents no time yet. */
static RCORE_HOT struct rcore_profile_sample sample_at(const struct rcore_sampler *sampler,
						       const struct rcore_track *track,
						       uint32_t node, uint32_t state,
						       uint64_t now)
{
	return (struct rcore_profile_sample){
		.time = now > sampler->options.begun ? now - sampler->options.begun : 0,
		.node = node,
		.thread = track->thread,
		.fiber = track->fiber,
		.state = state,
		.labels = track->labels,
		.count = 1,
	};
}

void rcore_track_add_copied(struct rcore_sampler *sampler, struct rcore_track *track,
			    uint32_t node, uint32_t state, uint64_t now, uint64_t wall,
			    uint64_t cpu)
{
	struct rcore_profile_sample sample = sample_at(sampler, track, node, state, now);
	sample.wall = wall;
	sample.cpu = cpu;
	rcore_pending_add(sampler, &track->pending, &sample);
}

RCORE_HOT void rcore_track_add(struct rcore_sampler *sampler, struct rcore_track *track,
			       uint32_t node, uint32_t state, uint64_t before, uint64_t now,
			       uint64_t cpu_before, uint64_t cpu_now)
{
	struct rcore_profile_sample *sample = &track->pending.sample;
	uint64_t gap = before && now > before ? now - before : 0;
	bool is_open = track->pending.is_there;
	/* The first sample represents all the time before it. */
	uint64_t first = is_open ? gap / 2 : 0;
	if (is_open) {
		sample->wall += first;
		sample->cpu += cpu_before;
	} else {
		cpu_now += cpu_before;
	}
	if (is_like(track, node, state)) {
		sample->wall += gap - first;
		sample->cpu += cpu_now;
		sample->count++;
		return;
	}
	rcore_track_settle(sampler, track);
	track->pending.is_there = true;
	*sample = sample_at(sampler, track, node, state, now);
	sample->wall = gap - first;
	sample->cpu = cpu_now;
}

void rcore_track_deinit(struct rcore_track *track)
{
	rcore_stack_deinit(&track->stack);
	free(track->frames);
	free(track->known);
	free(track->context.head.bytes);
	free(track->context.piece.bytes);
	free(track->context.last);
	rcore_read_log_deinit(&track->context.log);
	free(track->work.places.items);
	free(track->work.words.items);
}

struct fiber_key {
	uint64_t address, object;
};

struct rcore_fiber_id {
	struct fiber_key key;
	char id[24];
	bool is_lost;
	UT_hash_handle hh;
};

void rcore_sampler_forget_fibers(struct rcore_sampler *sampler)
{
	while (sampler->fiber_ids) {
		struct rcore_fiber_id *id = sampler->fiber_ids;
		HASH_DEL(sampler->fiber_ids, id);
		free(id);
	}
}

uint32_t rcore_sampler_fiber(struct rcore_sampler *sampler, uint64_t fiber, uint64_t object,
			     struct rcore_sampled_thread *thread, uint32_t thread_number)
{
	const struct fiber_key key = {fiber, object};
	struct rcore_fiber_id *id;
	HASH_FIND(hh, sampler->fiber_ids, &key, sizeof(key), id);
	if (!id && sampler->statistics.fibers < FIBER_IDS && (id = calloc(1, sizeof(*id)))) {
		id->key = key;
		HASH_ADD(hh, sampler->fiber_ids, key, sizeof(id->key), id);
		if (id->is_lost) {
			free(id);
			return 0;
		}
		snprintf(id->id, sizeof(id->id), "%s.F%zu", thread ? thread->id : "X",
			 thread ? thread->fiber_count++ : sampler->lost_fibers++);
	}
	if (!id)
		return 0;
	const struct rcore_profile_fiber record = {
		.thread = thread_number, .id = rcore_profile_string(sampler->profile, id->id)};
	return rcore_profile_fiber(sampler->profile, &record);
}
