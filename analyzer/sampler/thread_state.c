/* SPDX-License-Identifier: MIT */
#include "sampler/sampler_private.h"

#include "base/hot.h"

RCORE_HOT uint32_t rcore_sampler_plain_state(struct rcore_sampler *sampler,
					     enum rcore_sample_state kind)
{
	const struct rcore_profile_state state = {.kind = kind};
	if (!sampler->states[kind])
		sampler->states[kind] = rcore_profile_state(sampler->profile, &state);
	return sampler->states[kind];
}

static RCORE_HOT uint64_t gvl_holder(const struct rcore_sampler *sampler, uint64_t address)
{
	const struct rcore_layout *layout = sampler->layout;
	for (size_t i = 0; i < sampler->ractors.count; i++) {
		const struct rcore_sampled_ractor *ractor = &sampler->ractors.items[i];
		if (ractor->address != address)
			continue;
		if (!address)
			return rcore_piece_field(&ractor->piece, &layout->vm.gvl_owner);
		return rcore_piece_field(&ractor->piece,
					 rcore_has(&layout->ractor.sched_running)
						 ? &layout->ractor.sched_running
						 : &layout->ractor.gvl_owner);
	}
	return 0;
}

RCORE_HOT bool rcore_sampler_holds_gvl(const struct rcore_sampler *sampler,
				       const struct rcore_sampled_thread *thread)
{
	return gvl_holder(sampler, thread->ractor) == thread->address;
}

/* Does the same as gvl_state() of vm/threads.c, with what a tick copied. */
static RCORE_HOT enum rcore_sample_state kind_of(struct rcore_sampler *sampler,
						 struct rcore_sampled_thread *thread,
						 bool rests, bool is_busy)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_piece *piece = &thread->track.stack.pieces[RCORE_PIECE_THREAD];
	uint64_t status = rcore_piece_field(piece, &layout->thread.status);
	bool in_gc = rcore_piece_field(&sampler->gc, &layout->objspace.during_gc);
	if (rcore_sampler_holds_gvl(sampler, thread))
		return in_gc ? RCORE_SAMPLE_GC : RCORE_SAMPLE_RUNNING;
	if (status == RCORE_THREAD_KILLED)
		return RCORE_SAMPLE_UNKNOWN;
	if (status == RCORE_THREAD_RUNNABLE &&
	    !rcore_piece_field(piece, &layout->thread.blocking_region_buffer))
		return RCORE_SAMPLE_GVL;
	int runs = rests ? 0 : rcore_thread_runs(sampler, thread);
	if (runs < 0)
		runs = is_busy;
	else if (!runs && !rests)
		rcore_thread_note_sleep(thread);
	return runs ? RCORE_SAMPLE_RUNNING : RCORE_SAMPLE_BLOCKED;
}

static uint64_t innermost_self(const struct rcore_sampler *sampler,
			       const struct rcore_stack *stack)
{
	uint64_t self = 0;
	if (stack->cfp)
		rcore_field_of(rcore_stack_frame(stack, stack->cfp), sampler->layout->cfp.size,
			       &sampler->layout->cfp.self, &self);
	return self;
}

enum { LOOK_AGAIN_NS = 500000000 };

RCORE_HOT bool rcore_sampler_is_wait_due(const struct rcore_sampled_thread *thread,
					 uint64_t now)
{
	return now - thread->waited_at >= LOOK_AGAIN_NS;
}

/*
 * What a thread waits for does not change as long as its stack does not. So it
 * is looked up once, and again after a while, because the owner of a lock may
 * have changed: in the next tick, if this one has not read the stack. Returns
 * whether it must be looked up now.
 */
static bool asks_for_wait(const struct rcore_sampler *sampler,
			  struct rcore_sampled_thread *thread, uint64_t now)
{
	const struct rcore_track *track = &thread->track;
	uint64_t self = innermost_self(sampler, &track->stack);
	uint32_t status = (uint32_t)rcore_piece_field(&track->stack.pieces[RCORE_PIECE_THREAD],
						      &sampler->layout->thread.status);
	if (thread->waited_at && thread->waited_node == track->node &&
	    thread->waited_self == self && thread->waited_status == status &&
	    (track->stack.sleeps || !rcore_sampler_is_wait_due(thread, now)))
		return false;
	thread->waited_node = track->node;
	thread->waited_self = self;
	thread->waited_status = status;
	thread->waited_at = now;
	return true;
}

RCORE_HOT void rcore_sampler_state(struct rcore_sampler *sampler,
				   struct rcore_sampled_thread *thread, bool rests,
				   bool is_busy, uint64_t now)
{
	thread->state = kind_of(sampler, thread, rests, is_busy);
	/* With --off-cpu, rcore_sampler_look_up_waits() does that later. */
	if (thread->state == RCORE_SAMPLE_BLOCKED && !sampler->options.off_cpu) {
		thread->is_asked = asks_for_wait(sampler, thread, now);
		return;
	}
	thread->waited_at = 0;
	thread->state_number = rcore_sampler_plain_state(sampler, thread->state);
}
