/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_TRIAL_H
#define RCORE_SESSION_TRIAL_H

#include "base/arena.h"
#include "layout/layout.h"
#include "proof/prove.h"
#include "session/identify.h"

/* Where the VM is and how its structs are laid out. */
struct rcore_location {
	uint64_t vm; /* rb_vm_t */
	struct rcore_layout layout;
	uint64_t global_symbols; /* 0: not found */
};

/* How well a layout fits a target. */
struct rcore_trial {
	size_t passed, count, misfits;
	struct rcore_proof proofs[RCORE_PROOF_LIMIT];
	enum rcore_vm_method method;
	struct rcore_location location;
	struct rcore_shift shifts[RCORE_SHIFT_COUNT];
	size_t shift_count;
};

/* The layout that was chosen last, to be tried first. NULL: none yet. */
struct rcore_choice {
	struct rcore_trial *trial;
};

/* Where a layout is looked for. */
struct rcore_search {
	const struct rcore_target *target;
	const struct rcore_identity *identity;
	const char *layout_file;     /* the user's table; NULL: none */
	struct rcore_choice *choice; /* is read first, and kept up to date */
	struct rcore_arena *arena;   /* for the details of failed proofs */
};

/*
 * Finds the VM with the layout of `trial`: by its symbol, by DWARF, or by a
 * search of libruby's writable data. Sets trial->method and the location's vm.
 */
bool rcore_trial_find_vm(const struct rcore_search *search, struct rcore_trial *trial);

/* Proves the layout on the VM that was found. */
void rcore_trial_prove(const struct rcore_search *search, struct rcore_trial *trial);

/* Both; false: the layout finds no VM. */
bool rcore_trial_run(const struct rcore_search *search, struct rcore_trial *trial);

/* Counts the fields of an approximate layout that do not fit; of others, 0. */
size_t rcore_trial_misfits(const struct rcore_search *search, struct rcore_trial *trial);

/*
 * Prepares to read objects with a trial's layout. End it with
 * rcore_ruby_deinit().
 */
void rcore_trial_reader(const struct rcore_search *search, struct rcore_trial *trial,
			struct rcore_ruby *ret);

/* How often a condition did not hold, in all proofs. */
size_t rcore_trial_missed(const struct rcore_trial *trial);

/*
 * Whether `trial` is better than `best`, which was tried before and may be none
 * (count 0). Of builds of one release the one is better whose conditions hold
 * more often: a wrong one may pass by chance. A layout that was not measured on
 * this release must be better in what makes a release: where an objspace or a
 * symbol table is says nothing about the VM and its threads.
 */
bool rcore_trial_is_better(const struct rcore_trial *trial, const struct rcore_trial *best);

/* Whether `next` need not be tried after `best`. */
bool rcore_trial_settles(const struct rcore_trial *best, const struct rcore_layout *next);

/* Fills the snapshot's layout_*, vm_*, shifts, unmeasured and proofs. */
void rcore_trial_describe(const struct rcore_trial *trial, struct rcore_snapshot *snapshot);

#endif
