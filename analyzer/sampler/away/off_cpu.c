/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "sampler/away/away.h"

/*
 * Adds the times that threads spend off their processors. The BPF program
 * copies the stack of a thread when it leaves its processor, and reports when
 * it returns. In between, the thread does not run, so its stack does not
 * change.
 *
 * The record of a return may be missing, because the ring buffer was full or
 * the kernel hides switches of some processes. Then the thread's CPU time, as
 * the scheduler counts it, shows how long the thread was away.
 *
 * The stack is decoded when the thread leaves. The time is added when the
 * thread returns, and also each time the profile is written, because a thread
 * may wait forever.
 */

static uint64_t field_at(const __u64 *word, const struct rcore_field *field)
{
	struct rcore_field moved = *field;
	uint64_t value = 0;
	moved.offset = 0;
	return rcore_has_place(field) && rcore_field_of((const uint8_t *)word, sizeof(*word),
							&moved, &value)
		       ? value
		       : 0;
}

/* Does the same as kind_of() of thread_state.c, with what the record has. */
static uint32_t state_of(struct rcore_sampler *sampler, struct rcore_away *away,
			 const struct rcore_bpf_record *record, uint32_t node)
{
	const struct rcore_layout *layout = sampler->layout;
	bool holds_gvl = record->thread && record->holder == record->thread;
	away->is_blocked = away->is_unknown = false;
	away->looked = away->looks = 0;
	if (record->is_preempted) {
		const struct rcore_profile_state state = {
			.kind = RCORE_SAMPLE_RUNNING,
			.wait = rcore_profile_string(sampler->profile, "processor")};
		return rcore_profile_state(sampler->profile, &state);
	}
	if (!holds_gvl && record->thread && !record->region &&
	    rcore_has_place(&layout->thread.blocking_region_buffer) &&
	    field_at(&record->status, &layout->thread.status) == RCORE_THREAD_RUNNABLE)
		return rcore_sampler_plain_state(sampler, RCORE_SAMPLE_GVL);
	away->is_blocked = true;
	away->is_unknown = !rcore_away_is_known(sampler, node);
	return rcore_away_blocked(sampler, node);
}

static struct rcore_error *look_up(struct rcore_sampler *sampler, struct rcore_away *away,
				   const struct rcore_bpf_record *record)
{
	struct rcore_sampled_thread *thread;
	uint32_t node;
	struct rcore_error *err = rcore_sampler_decode_record(sampler, record, &thread);
	if (!err && thread)
		err = rcore_sampler_record_node(sampler, record, thread, false, &node);
	away->is_away = !err && thread;
	if (!away->is_away)
		return err;
	away->thread = thread->address;
	rcore_away_refer(sampler, away, &thread->track, node,
			 state_of(sampler, away, record, node));
	return NULL;
}

static struct rcore_error *add_left(struct rcore_sampler *sampler,
				    const struct rcore_bpf_record *record, size_t size)
{
	/*
	 * Threads of libraries and Ruby's timer thread have no EC. A kernel
	 * thread that runs no Ruby thread has none either from 3.2 on; before,
	 * it keeps that of the thread that ended.
	 */
	if (!record->ec ||
	    field_at(&record->status, &sampler->layout->thread.status) == RCORE_THREAD_KILLED) {
		sampler->statistics.foreign++;
		return NULL;
	}
	struct rcore_away *away = rcore_away_add(sampler, record->tid);
	if (!away || !rcore_away_keep(sampler, away, record, size))
		return rcore_error_no_memory();
	sampler->statistics.samples++;
	away->is_missing = false;
	away->left = away->since = record->time;
	away->ran = record->ran;
	away->switches = record->switches;
	away->sample.count = 1;
	return look_up(sampler, away, record);
}

static void add_returned(struct rcore_sampler *sampler, const struct rcore_bpf_record *record)
{
	struct rcore_away *away = rcore_away_find(sampler, record->tid);
	if (!away || !away->is_away)
		return;
	/* It returned before rcore read its stack. */
	if (!away->size && record->time < away->since)
		return;
	/* If it returned and left again, both records may be missing. */
	bool is_same = away->size && away->switches == record->switches;
	if (is_same || !away->ran)
		rcore_away_add_time(sampler, away, record->time);
	else
		rcore_away_add_rest(sampler, away, record->time, record->ran);
	away->is_away = false;
}

/*
 * Decodes again the stack of a thread that rcore_sampler_tick() has read. The
 * thread has not run since, so its track still has that stack.
 */
static void look_up_found(struct rcore_sampler *sampler, struct rcore_away *away)
{
	struct rcore_sampled_thread *thread = rcore_sampler_thread_at(sampler, away->thread);
	away->is_away = thread;
	if (!thread)
		return;
	struct rcore_track *track = &thread->track;
	rcore_cache_drop(sampler->pages);
	rcore_track_decode(sampler, track);
	rcore_sampler_name_thread(sampler, thread);
	track->fiber = rcore_sampler_current_fiber(sampler, thread);
	rcore_sampler_labels(sampler, track, rcore_clock_ns());
	away->looked = away->looks = 0;
	away->is_unknown = away->is_blocked && !rcore_away_is_known(sampler, track->node);
	rcore_away_refer(sampler, away, track, track->node,
			 away->is_blocked ? rcore_away_blocked(sampler, track->node)
					  : rcore_sampler_plain_state(sampler, thread->state));
}

/* If a thread's record was not kept, only the thread's id is known. */
static void look_up_dropped(struct rcore_sampler *sampler, struct rcore_away *away)
{
	struct rcore_profile *profile = sampler->profile;
	const struct rcore_profile_thread thread = {.pid = (uint32_t)rcore_sampler_pid(sampler),
						    .tid = away->tid,
						    .process = rcore_sampler_process(sampler)};
	const struct rcore_track track = {.thread = rcore_profile_thread(profile, &thread)};
	uint32_t frame = rcore_sampler_note(sampler, "(stack not kept)");
	rcore_away_refer(sampler, away, &track, rcore_profile_node(profile, 0, frame),
			 rcore_away_blocked(sampler, 0));
}

/* Decodes again what became invalid when the profile's tables were emptied. */
static struct rcore_error *renew(struct rcore_sampler *sampler)
{
	struct rcore_error *err = NULL;
	for (struct rcore_away *each = sampler->away; each; each = each->hh.next) {
		if (err || !each->is_away || each->generation == sampler->generation)
			continue;
		if (each->record)
			err = look_up(sampler, each, each->record);
		else if (each->size)
			look_up_dropped(sampler, each);
		else
			look_up_found(sampler, each);
	}
	return err;
}

struct rcore_error *rcore_sampler_add_switch(struct rcore_sampler *sampler,
					     const struct rcore_bpf_record *record, size_t size)
{
	struct rcore_away *away = rcore_away_find(sampler, record->tid);
	if (sampler->generation != sampler->profile->generation) {
		rcore_sampler_forget_cleared(sampler);
		struct rcore_error *err = renew(sampler);
		if (err)
			return err;
	}
	/* The record of its return is missing. */
	if (away && away->is_away && record->kind != RCORE_BPF_RETURNED) {
		rcore_away_add_rest(sampler, away, record->time, record->ran);
		away->is_away = false;
	}
	switch (record->kind) {
	case RCORE_BPF_LEFT:
		return add_left(sampler, record, size);
	case RCORE_BPF_RETURNED:
		add_returned(sampler, record);
		break;
	default: /* ENDED */
		if (away)
			rcore_away_forget(sampler, away);
	}
	return NULL;
}

struct rcore_error *rcore_sampler_begin_switches(struct rcore_sampler *sampler)
{
	struct rcore_error *err = rcore_sampler_begin_records(sampler);
	return err ? err : renew(sampler);
}
