/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "sampler/away/away.h"

struct rcore_away *rcore_away_find(const struct rcore_sampler *sampler, uint32_t tid)
{
	struct rcore_away *away;
	HASH_FIND(hh, sampler->away, &tid, sizeof(tid), away);
	return away;
}

struct rcore_away *rcore_away_add(struct rcore_sampler *sampler, uint32_t tid)
{
	struct rcore_away *away = rcore_away_find(sampler, tid);
	if (away || !(away = calloc(1, sizeof(*away))))
		return away;
	away->tid = tid;
	HASH_ADD(hh, sampler->away, tid, sizeof(away->tid), away);
	if (!away->is_lost)
		return away;
	free(away);
	return NULL;
}

static void write_pending(struct rcore_sampler *sampler, struct rcore_away *away)
{
	if (away->pending.is_there)
		rcore_pending_write(sampler, &away->pending);
}

static void drop_record(struct rcore_sampler *sampler, struct rcore_away *away)
{
	if (sampler->options.kept)
		*sampler->options.kept -= away->capacity;
	free(away->record);
	away->record = NULL;
	away->capacity = 0;
}

bool rcore_away_keep(struct rcore_sampler *sampler, struct rcore_away *away,
		     const struct rcore_bpf_record *record, size_t size)
{
	uint64_t *kept = sampler->options.kept;
	size_t more = size > away->capacity ? size - away->capacity : 0;
	away->size = size;
	if (more && kept && *kept + more > RCORE_AWAY_KEPT_MAX) {
		drop_record(sampler, away);
		return true;
	}
	if (more) {
		struct rcore_bpf_record *grown = realloc(away->record, size);
		if (!grown)
			return false;
		away->record = grown;
		away->capacity = size;
		if (kept)
			*kept += more;
	}
	memcpy(away->record, record, size);
	return true;
}

void rcore_away_forget(struct rcore_sampler *sampler, struct rcore_away *away)
{
	write_pending(sampler, away);
	HASH_DEL(sampler->away, away);
	drop_record(sampler, away);
	free(away);
}

void rcore_away_deinit(struct rcore_sampler *sampler)
{
	while (sampler->away) {
		struct rcore_away *away = sampler->away;
		HASH_DEL(sampler->away, away);
		drop_record(sampler, away);
		free(away);
	}
	rcore_address_map_deinit(&sampler->wait_kinds);
	free(sampler->unknown_waits.items);
}

void rcore_away_add_time(struct rcore_sampler *sampler, struct rcore_away *away, uint64_t until)
{
	struct rcore_profile_sample sample = away->sample;
	if (away->generation != sampler->generation || until <= away->since)
		return;
	sample.time =
		away->since > sampler->options.begun ? away->since - sampler->options.begun : 0;
	sample.wall = until - away->since;
	if (!away->is_unknown || !rcore_away_keep_unknown(sampler, &sample))
		rcore_pending_add(sampler, &away->pending, &sample);
	away->since = until;
	away->sample.count = 0;
}

void rcore_away_add_rest(struct rcore_sampler *sampler, struct rcore_away *away, uint64_t now,
			 uint64_t ran)
{
	uint64_t used = ran > away->ran ? ran - away->ran : 0;
	if (now > used)
		rcore_away_add_time(sampler, away, now - used);
}

void rcore_away_settle(struct rcore_sampler *sampler)
{
	for (struct rcore_away *each = sampler->away; each; each = each->hh.next) {
		uint64_t ran = each->is_away ? rcore_thread_ran(sampler, each->tid) : 0;
		/* How long a thread waited before it ended is not known. */
		if (each->is_away && (ran || rcore_thread_exists(sampler, each->tid)))
			rcore_away_add_rest(sampler, each, sampler->consumed, ran);
		write_pending(sampler, each);
	}
	rcore_away_write_unknown(sampler);
}

/*
 * The record of a thread's end may be missing, and in a pid namespace most
 * threads have lost their id before their last switch. The other records of a
 * thread that has ended may still be in the ring buffer: they have been read
 * when it is missing for the second time.
 */
void rcore_away_verify(struct rcore_sampler *sampler)
{
	struct rcore_away *each, *next;
	for (each = sampler->away; each; each = next) {
		bool was_missing = each->is_missing;
		next = each->hh.next;
		each->is_missing = !rcore_thread_exists(sampler, each->tid);
		if (was_missing && each->is_missing)
			rcore_away_forget(sampler, each);
	}
}

void rcore_away_refer(struct rcore_sampler *sampler, struct rcore_away *away,
		      const struct rcore_track *track, uint32_t node, uint32_t state)
{
	away->generation = sampler->generation;
	away->sample = (struct rcore_profile_sample){
		.node = node,
		.thread = track->thread,
		.fiber = track->fiber,
		.state = state,
		.labels = track->labels,
		.count = away->sample.count,
	};
}

struct rcore_error *rcore_away_found(struct rcore_sampler *sampler,
				     const struct rcore_sampled_thread *thread, uint32_t node,
				     uint64_t now)
{
	bool is_away = thread->tid && (thread->state == RCORE_SAMPLE_BLOCKED ||
				       thread->state == RCORE_SAMPLE_GVL);
	struct rcore_away *away =
		is_away ? rcore_away_add(sampler, (uint32_t)thread->tid) : NULL;
	if (!is_away)
		return NULL;
	if (!away)
		return rcore_error_no_memory();
	if (away->size)
		return NULL;
	away->thread = thread->address;
	away->is_blocked = thread->state == RCORE_SAMPLE_BLOCKED;
	away->looked = away->looks = 0;
	if (!away->is_away) {
		sampler->statistics.samples++;
		away->is_away = true;
		away->left = away->since = now;
		away->ran = rcore_thread_ran(sampler, away->tid);
		away->sample.count = 1;
	}
	away->is_unknown = away->is_blocked && !rcore_away_is_known(sampler, node);
	rcore_away_refer(sampler, away, &thread->track, node,
			 away->is_blocked ? rcore_away_blocked(sampler, node)
					  : thread->state_number);
	return NULL;
}
