/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_AWAY_H
#define RCORE_SAMPLER_AWAY_H

/*
 * sampler/away/ measures how long threads are off their processors, and why
 * (`rcore record --off-cpu`). It includes the rest of sampler/. Start with
 * off_cpu.c.
 */

#include "sampler/sampler_private.h"

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(away) ((away)->is_lost = true)
#include <uthash.h>

/* Bytes of records that are kept, of all threads of all processes. */
enum { RCORE_AWAY_KEPT_MAX = 256 << 20 };

/* A kernel thread that has left its processor at least once. */
struct rcore_away {
	uint32_t tid;
	uint64_t thread;   /* the rb_thread_t that it ran when it left */
	bool is_away;      /* it has not returned yet */
	bool is_lost;      /* memory was short */
	bool is_missing;   /* it was not in /proc when rcore last looked */
	bool is_blocked;   /* it waits for something other than the GVL */
	bool is_unknown;   /* nothing shows yet what it waits for */
	bool was_known;    /* before the last look */
	uint64_t looked;   /* when its wait was looked up; 0: not yet */
	uint64_t left;     /* when it left */
	uint64_t since;    /* its time up to then was added */
	uint64_t ran;      /* its CPU time when it left */
	uint64_t switches; /* of the record */
	uint32_t looks;    /* how often, since it left */
	uint32_t generation;
	struct rcore_profile_sample sample;
	struct rcore_pending pending;
	/*
	 * The record of its leaving, to decode it again if the profile's tables
	 * are emptied. Size 0: the thread left before the recording began, and
	 * its stack was read from the process. If it has a size, but is NULL,
	 * there was no room to keep it.
	 */
	struct rcore_bpf_record *record;
	size_t size, capacity;
	UT_hash_handle hh;
};

/* Returns NULL if the thread is not known to have left its processor. */
struct rcore_away *rcore_away_find(const struct rcore_sampler *sampler, uint32_t tid);
/* Finds or adds a thread. Returns NULL if memory is short. */
struct rcore_away *rcore_away_add(struct rcore_sampler *sampler, uint32_t tid);
/* Removes a thread that has ended, after writing its pending sample. */
void rcore_away_forget(struct rcore_sampler *sampler, struct rcore_away *away);
/*
 * Keeps the record of a thread's leaving, unless that exceeds the limit.
 * Returns false if memory is short.
 */
bool rcore_away_keep(struct rcore_sampler *sampler, struct rcore_away *away,
		     const struct rcore_bpf_record *record, size_t size);
/* Sets what the thread's next sample refers to. */
void rcore_away_refer(struct rcore_sampler *sampler, struct rcore_away *away,
		      const struct rcore_track *track, uint32_t node, uint32_t state);
/*
 * Returns the state of a thread that waits with the stack `node`, according to
 * earlier waits with that stack.
 */
uint32_t rcore_away_blocked(struct rcore_sampler *sampler, uint32_t node);
/* Returns whether earlier waits show that. */
bool rcore_away_is_known(const struct rcore_sampler *sampler, uint32_t node);
/*
 * Keeps a sample until what it waited for may be known; write_unknown() adds
 * all of them to the profile. Returns false if memory is short.
 */
bool rcore_away_keep_unknown(struct rcore_sampler *sampler,
			     const struct rcore_profile_sample *sample);
void rcore_away_write_unknown(struct rcore_sampler *sampler);
/*
 * Adds the time up to `until` that was not added yet. Only the first part of an
 * absence counts as a sample.
 */
void rcore_away_add_time(struct rcore_sampler *sampler, struct rcore_away *away,
			 uint64_t until);

/*
 * Adds the time up to `now` without that for which the thread ran, so that the
 * sum is right even if the record of its return is missing. `ran` is the
 * thread's CPU time at `now` in nanoseconds; 0: unknown.
 */
void rcore_away_add_rest(struct rcore_sampler *sampler, struct rcore_away *away, uint64_t now,
			 uint64_t ran);

#endif
