/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_TRIAL_H
#define RCORE_SESSION_TRIAL_H

#include "proof/prove.h"
#include "session/session.h"

/* How well a layout did. */
struct rcore_trial {
	size_t passed, count, misfits;
	struct rcore_proof proofs[RCORE_PROOF_LIMIT];
	enum rcore_vm_rung rung;
	struct rcore_location location;
	struct rcore_shift shifts[RCORE_SHIFT_COUNT];
	size_t shift_count;
};

/* How often a condition did not hold, in all proofs. */
size_t rcore_trial_missed(const struct rcore_trial *trial);

/*
 * Whether `trial` is to be preferred to `best`, which was tried before and may be none (count 0). Of
 * builds of one release it is the one that holds more often: a wrong one may pass by chance. One
 * that was not measured on this release must be better in what makes a release: that an objspace or
 * a symbol table stands elsewhere says nothing of the VM and its threads.
 */
bool rcore_trial_is_better(const struct rcore_trial *trial, const struct rcore_trial *best);

/* Whether `next` need not be tried after `best`. */
bool rcore_trial_settles(const struct rcore_trial *best, const struct rcore_layout *next);

#endif
