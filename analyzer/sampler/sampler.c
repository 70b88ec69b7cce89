/* SPDX-License-Identifier: MIT */
#include "sampler/sampler_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/hot.h"
#include "sampler/native/native.h"

enum {
	SECOND = 1000000000,
	VERIFY_NS = SECOND, /* how often code is verified */
	/*
	 * Rounds after which the decoders forget what they know about objects.
	 */
	OBJECTS_ROUNDS = 10,
	/*
	 * The CPU time and the whole stack of a thread that keeps waiting are
	 * read once in this many ticks.
	 */
	IDLE_TICKS = 8,
	/* The same, if it is proved that the thread sleeps. */
	ASLEEP_TICKS = 64,
};

/*
 * Numbers of the profile are invalid after its tables were emptied, and a node
 * is invalid after the code at an address was replaced.
 */
static RCORE_HOT void forget_stale(struct rcore_sampler *sampler)
{
	bool is_new = sampler->generation != sampler->profile->generation;
	if (is_new) {
		sampler->generation = sampler->profile->generation;
		sampler->process = 0;
		memset(sampler->states, 0, sizeof(sampler->states));
		sampler->gc_frame = sampler->partial_frame = 0;
		rcore_codes_forget(&sampler->codes);
	}
	if (!is_new && sampler->codes_changed == sampler->codes.changed)
		return;
	sampler->codes_changed = sampler->codes.changed;
	rcore_address_map_deinit(&sampler->parked_states);
	if (is_new)
		rcore_address_map_deinit(&sampler->wait_kinds);
	for (size_t i = 0; i < sampler->threads.count; i++) {
		rcore_track_settle(sampler, &sampler->threads.items[i]->track);
		rcore_track_forget(&sampler->threads.items[i]->track);
		sampler->threads.items[i]->waited_at = 0;
		sampler->threads.items[i]->fiber_ec = 0;
	}
	for (size_t i = 0; i < sampler->parked.count; i++) {
		rcore_track_settle(sampler, &sampler->parked.items[i]->track);
		rcore_track_forget(&sampler->parked.items[i]->track);
		sampler->parked.items[i]->is_resolved = false;
	}
}

void rcore_sampler_forget_cleared(struct rcore_sampler *sampler)
{
	if (sampler->generation != sampler->profile->generation)
		forget_stale(sampler);
}

/*
 * A thread that was blocked is most often still blocked, and one read of its
 * frames shows that. One in IDLE_TICKS times, it is read like any other.
 */
static RCORE_HOT bool may_rest(const struct rcore_sampler *sampler, size_t index)
{
	const struct rcore_sampled_thread *thread = sampler->threads.items[index];
	const struct rcore_track *track = &thread->track;
	size_t most = thread->sleep == RCORE_SLEEP_COPIED ? ASLEEP_TICKS : IDLE_TICKS;
	return thread->state == RCORE_SAMPLE_BLOCKED && !track->has_changed && track->node &&
	       track->drops == sampler->codes.drops && track->stack.cfp &&
	       !track->stack.is_partial && !sampler->options.native &&
	       (sampler->statistics.ticks + index) % most;
}

/*
 * Returns whether a thread that may rest has not run since its stack was read.
 * Before its wait is looked up, the stack is read all the same: the garbage
 * collector may have moved what it refers to.
 */
static RCORE_HOT bool sleeps(const struct rcore_sampler *sampler,
			     struct rcore_sampled_thread *thread, uint64_t now)
{
	return rcore_thread_sleeps_on(thread) && thread->sleep == RCORE_SLEEP_COPIED &&
	       sampler->are_counted && !rcore_sampler_is_wait_due(thread, now);
}

/* Reads all that a tick needs if threads continue as before. */
static RCORE_HOT struct rcore_error *read_all(struct rcore_sampler *sampler, uint64_t now)
{
	size_t threads = sampler->threads.count, used = 0;
	size_t most = sampler->ractors.count + 2 + threads * RCORE_CONTEXT_PIECES;
	if (!rcore_reserve(&sampler->others, most) || !rcore_reserve(&sampler->stacks, threads))
		return rcore_error_no_memory();
	struct rcore_piece **others = sampler->others.items;
	for (size_t i = 0; i < sampler->ractors.count; i++)
		others[used++] = &sampler->ractors.items[i].piece;
	others[used++] = &sampler->ractor_list;
	others[used++] = &sampler->gc;
	sampler->sleeping = 0;
	for (size_t i = 0; i < threads; i++) {
		struct rcore_track *track = &sampler->threads.items[i]->track;
		track->stack.rests = may_rest(sampler, i);
		track->stack.sleeps =
			track->stack.rests && sleeps(sampler, sampler->threads.items[i], now);
		sampler->sleeping += track->stack.sleeps;
		sampler->stacks.items[i] = &track->stack;
		if (!track->stack.sleeps)
			used += rcore_sampler_aim_context(&track->context, &others[used]);
	}
	sampler->statistics.reads++;
	return rcore_stack_read(&sampler->reader, sampler->stacks.items, threads, others, used);
}

RCORE_HOT uint32_t rcore_sampler_current_fiber(struct rcore_sampler *sampler,
					       struct rcore_sampled_thread *thread)
{
	const struct rcore_layout *layout = sampler->layout;
	uint64_t ec = thread->track.stack.ec, object = 0;
	if (!ec || (ec == thread->fiber_ec && thread->track.fiber))
		return thread->track.fiber;
	uint64_t fiber = ec - (uint64_t)layout->fiber.saved_ec.offset;
	rcore_read_field(rcore_live_bare_memory(sampler->live), fiber, &layout->fiber.self,
			 &object);
	if (object == thread->track.context.object && fiber == thread->fiber_address &&
	    thread->track.fiber) {
		thread->fiber_ec = ec;
		return thread->track.fiber;
	}
	thread->fiber_ec = ec;
	thread->fiber_address = fiber;
	thread->track.context.object = object;
	thread->track.context.is_known = false;
	return rcore_sampler_fiber(sampler, fiber, object, thread, thread->track.thread);
}

/* Splits the CPU time between two samples. */
static RCORE_HOT void split(const struct rcore_sampled_thread *thread, bool is_running,
			    uint64_t cpu, uint64_t *ret_before, uint64_t *ret_now)
{
	bool alike = thread->was_running == is_running;
	*ret_before = alike ? cpu / 2 : thread->was_running ? cpu : 0;
	*ret_now = cpu - *ret_before;
}

/* Looks up what the stack that was read runs. */
static RCORE_HOT void decode(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			     enum rcore_stack_verdict verdict)
{
	struct rcore_track *track = &thread->track;
	if (verdict != RCORE_STACK_GOOD && verdict != RCORE_STACK_EMPTY) {
		if (rcore_stack_salvage(&sampler->reader, &track->stack))
			sampler->statistics.partial++;
		else
			sampler->statistics.lost++;
	}
	track->may_be_unfilled = rcore_sampler_holds_gvl(sampler, thread);
	if (verdict != RCORE_STACK_GOOD || !track->stack.is_light)
		rcore_track_decode(sampler, track);
}

/* Finds out what the thread does, except what it waits for. */
static RCORE_HOT void look_at(struct rcore_sampler *sampler, struct rcore_look *look,
			      uint64_t now)
{
	struct rcore_sampled_thread *thread = look->thread;
	struct rcore_track *track = &thread->track;
	look->cpu = 0;
	rcore_thread_follow(sampler, thread);
	rcore_sampler_name_thread(sampler, thread);
	track->fiber = rcore_sampler_current_fiber(sampler, thread);
	if (!track->stack.sleeps)
		rcore_sampler_labels(sampler, track, now);
	/* What was known of its sleep was checked just before this read. */
	if (track->stack.is_light && thread->sleep == RCORE_SLEEP_NOTED)
		thread->sleep = RCORE_SLEEP_COPIED;
	bool rests = thread->state == RCORE_SAMPLE_BLOCKED && !track->has_changed &&
		     (track->stack.sleeps || sampler->statistics.ticks % IDLE_TICKS);
	uint64_t since = thread->cpu_looked, queued;
	bool is_timed = !rests && !sampler->options.off_cpu &&
			rcore_thread_time(sampler, thread, &look->cpu, &queued);
	if (is_timed) {
		thread->cpu_looked = now;
		sampler->statistics.ran_ns += look->cpu;
		sampler->statistics.queued_ns += queued;
	}
	bool is_busy = is_timed && since && look->cpu > (now - since) / 2;
	rcore_sampler_state(sampler, thread, rests, is_busy, now);
}

/* Adds the sample. */
static RCORE_HOT struct rcore_error *add(struct rcore_sampler *sampler, size_t index,
					 uint64_t cpu, uint64_t now)
{
	struct rcore_sampled_thread *thread = sampler->threads.items[index];
	struct rcore_track *track = &thread->track;
	uint64_t before, after;
	bool is_running =
		thread->state == RCORE_SAMPLE_RUNNING || thread->state == RCORE_SAMPLE_GC;
	split(thread, is_running, cpu, &before, &after);
	uint32_t node = rcore_native_node(sampler, index, thread->state == RCORE_SAMPLE_GC);
	if (sampler->options.off_cpu)
		return rcore_away_found(sampler, thread, node, now);
	if (!sampler->options.only_running)
		rcore_track_add(sampler, track, node, thread->state_number, thread->last_looked,
				now, before, after);
	else if (is_running)
		rcore_track_add_copied(sampler, track, node, thread->state_number, now,
				       thread->last_looked ? now - thread->last_looked : 0,
				       cpu);
	thread->was_running = is_running;
	thread->last_looked = now;
	sampler->statistics.samples += is_running || !sampler->options.only_running;
	return NULL;
}

static RCORE_HOT struct rcore_error *look_at_threads(struct rcore_sampler *sampler)
{
	size_t count = sampler->threads.count;
	bool is_lost = false;
	if (!rcore_reserve(&sampler->looks, count))
		return rcore_error_no_memory();
	struct rcore_look *looks = sampler->looks.items;
	for (size_t i = 0; i < count; i++) {
		looks[i].thread = sampler->threads.items[i];
		looks[i].verdict = rcore_sampler_check_stack(sampler, &looks[i].thread->track);
	}
	struct rcore_error *err = rcore_sampler_read_again(sampler, looks, count);
	uint64_t now = rcore_clock_ns();
	if (!err)
		err = rcore_native_keep(sampler);
	rcore_native_let_go(sampler);
	rcore_cache_drop(sampler->pages);
	for (size_t i = 0; !err && i < count; i++)
		if (looks[i].verdict != RCORE_STACK_GONE)
			decode(sampler, looks[i].thread, looks[i].verdict);
	if (!err)
		err = rcore_native_weave(sampler);
	for (size_t i = 0; !err && i < count; i++) {
		if (looks[i].verdict == RCORE_STACK_GONE)
			is_lost = true;
		else
			look_at(sampler, &looks[i], now);
	}
	if (!err)
		err = rcore_sampler_tick_waits(sampler);
	for (size_t i = 0; !err && i < count; i++)
		if (looks[i].verdict != RCORE_STACK_GONE)
			err = add(sampler, i, looks[i].cpu, now);
	if (!err && is_lost)
		err = rcore_live_check(sampler->live);
	return err;
}

static RCORE_HOT void verify(struct rcore_sampler *sampler, uint64_t now)
{
	if (now - sampler->last_verified < VERIFY_NS)
		return;
	sampler->last_verified = now;
	rcore_sampler_update_title(sampler);
	rcore_codes_verify(&sampler->codes, sampler->live);
	rcore_away_verify(sampler);
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		if (!thread->tid) {
			thread->tid =
				rcore_thread_tid(sampler, thread->address, &thread->inner_tid);
			rcore_thread_time_close(thread);
			if (thread->tid)
				thread->track.thread = 0;
		}
		thread->fiber_ec = 0;
	}
}

RCORE_HOT void rcore_sampler_begin_tick(struct rcore_sampler *sampler, uint64_t now)
{
	if (!sampler->begun)
		sampler->begun = sampler->last_verified = now;
	rcore_codes_begin_tick(&sampler->codes);
	verify(sampler, now);
	forget_stale(sampler);
	sampler->statistics.ticks++;
}

RCORE_HOT struct rcore_error *rcore_sampler_tick(struct rcore_sampler *sampler)
{
	uint64_t now = rcore_clock_ns();
	rcore_sampler_begin_tick(sampler, now);
	rcore_sampler_allow_retries(sampler, now);
	struct rcore_error *err = rcore_native_hold(sampler, now);
	if (!err)
		err = read_all(sampler, now);
	if (!err && !rcore_sampler_list_holds(sampler)) {
		err = rcore_sampler_list(sampler);
		if (!err)
			err = read_all(sampler, now);
	}
	if (!err && !sampler->threads.count)
		err = rcore_live_check(sampler->live);
	if (!err)
		err = look_at_threads(sampler);
	rcore_native_let_go(sampler);
	if (!err && !sampler->options.off_cpu && !sampler->options.only_running)
		err = rcore_sampler_parked(sampler, now);
	sampler->statistics.threads = sampler->threads.count;
	sampler->statistics.fibers = sampler->parked.count;
	if (!err && sampler->profile->no_memory)
		err = rcore_error_no_memory();
	return err;
}

struct rcore_error *rcore_sampler_end_fibers(struct rcore_sampler *sampler, uint64_t time)
{
	rcore_sampler_forget_cleared(sampler);
	return rcore_parked_end(sampler, time);
}

void rcore_sampler_settle(struct rcore_sampler *sampler)
{
	for (size_t i = 0; i < sampler->threads.count; i++)
		rcore_track_settle(sampler, &sampler->threads.items[i]->track);
	for (size_t i = 0; i < sampler->parked.count; i++)
		rcore_track_settle(sampler, &sampler->parked.items[i]->track);
	rcore_away_settle(sampler);
}

void rcore_sampler_end_records(struct rcore_sampler *sampler, uint64_t time)
{
	sampler->consumed = time;
}

uint64_t rcore_sampler_begun(const struct rcore_sampler *sampler)
{
	return sampler->options.begun;
}

struct rcore_error *rcore_sampler_check(const struct rcore_sampler *sampler)
{
	return rcore_live_check(sampler->live);
}

bool rcore_sampler_has_executed(const struct rcore_sampler *sampler)
{
	rcore_error_free(rcore_live_check(sampler->live));
	return rcore_live_has_executed(sampler->live);
}

bool rcore_sampler_asks_for_work(const struct rcore_sampler *sampler)
{
	return sampler->works.chosen.count;
}

const struct rcore_sampler_statistics *
rcore_sampler_statistics(const struct rcore_sampler *sampler)
{
	return &sampler->statistics;
}

const char *rcore_sampler_ruby(const struct rcore_sampler *sampler)
{
	return sampler->ruby;
}
