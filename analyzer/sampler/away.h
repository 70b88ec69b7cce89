/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_AWAY_H
#define RCORE_SAMPLER_AWAY_H

#include "sampler/sampler_private.h"

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(away) ((away)->is_lost = true)
#include <uthash.h>

/* A kernel thread that has left its processor at least once. */
struct rcore_away {
	uint32_t tid;
	bool is_away;      /* it has not returned yet */
	bool is_lost;      /* memory was short */
	uint64_t left;     /* when it left */
	uint64_t since;    /* until when its time was added */
	uint64_t ran;      /* what it had used of a processor when it left */
	uint64_t switches; /* of the record */
	uint32_t generation;
	struct rcore_profile_sample sample;
	struct rcore_pending pending;
	/*
	 * The record, to look it up again if the profile's tables are emptied.
	 * Size 0: the thread had left before the recording began, and its stack
	 * was read from the process.
	 */
	struct rcore_bpf_record *record;
	size_t size, capacity;
	UT_hash_handle hh;
};

/* Returns NULL if it has not left since the recording began. */
struct rcore_away *rcore_away_find(const struct rcore_sampler *sampler, uint32_t tid);
/* The same, but adds it. Returns NULL if memory is short. */
struct rcore_away *rcore_away_add(struct rcore_sampler *sampler, uint32_t tid);
/* Removes a thread that has ended. */
void rcore_away_forget(struct rcore_sampler *sampler, struct rcore_away *away);
/* Sets what the thread's next sample refers to. */
void rcore_away_refer(struct rcore_sampler *sampler, struct rcore_away *away,
		      const struct rcore_track *track, uint32_t node, uint32_t state);
/*
 * Adds the time up to `until`, if not all of it was added. Only its first part
 * counts as a sample.
 */
void rcore_away_add_time(struct rcore_sampler *sampler, struct rcore_away *away,
			 uint64_t until);

/*
 * Adds the time up to `now` that the thread did not run, which is right even if
 * the record of its return is missing. It has used `ran` nanoseconds of a
 * processor by then; 0: unknown.
 */
void rcore_away_add_rest(struct rcore_sampler *sampler, struct rcore_away *away, uint64_t now,
			 uint64_t ran);

#endif
