/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_TRIAL_H
#define RCORE_SESSION_TRIAL_H

/*
 * session/layout/ identifies the Ruby of a target and chooses the layout that
 * fits it best, by trial. Start with identify.h, then locate.h.
 */

#include "base/arena.h"
#include "layout/layout.h"
#include "proof/prove.h"
#include "session/layout/identify.h"

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

/* What sessions keep for later ones. */
struct rcore_choice {
	/* The layout that was chosen last, tried first. NULL: none yet. */
	struct rcore_trial *trial;
	bool is_fresh; /* the last search proved it, or chose it */
	/* A proof of this search failed because memory is short. */
	bool lacks_memory;
	/*
	 * If the sessions read several processes, what is known about their
	 * files; `trial` is then unused. NULL if they read one process.
	 */
	struct rcore_answers *answers;
};

/*
 * Does the same as rcore_choice_open(), for sessions of several processes,
 * which need not share anything. Free it with rcore_choice_close().
 */
struct rcore_choice *rcore_choice_open_several(void);

/* Where to look for a layout. */
struct rcore_search {
	const struct rcore_target *target;
	const struct rcore_identity *identity;
	const char *layout_file;     /* the user's table; NULL: none */
	struct rcore_choice *choice; /* tried first, and updated */
	bool is_proved;              /* choice->trial is proved */
	struct rcore_arena *arena;   /* for the details of failed proofs */
};

/*
 * Finds the VM with the layout of `trial`: by its symbol, by DWARF, or by
 * searching libruby's writable data. Sets trial->method and the location's vm.
 */
bool rcore_trial_find_vm(const struct rcore_search *search, struct rcore_trial *trial);

/* Proves the layout with the VM that was found. */
void rcore_trial_prove(const struct rcore_search *search, struct rcore_trial *trial);

/* Does both. Returns false if the layout finds no VM. */
bool rcore_trial_run(const struct rcore_search *search, struct rcore_trial *trial);

/*
 * Counts the fields of an approximate layout that do not fit; returns 0 for
 * other layouts.
 */
size_t rcore_trial_misfits(const struct rcore_search *search, struct rcore_trial *trial);

/*
 * Prepares `ruby` to read objects with a trial's layout. Call
 * rcore_trial_end_reader() at the end.
 */
void rcore_trial_reader(const struct rcore_search *search, struct rcore_trial *trial,
			struct rcore_ruby *ret);

/* Sets choice->lacks_memory if memory was short for a check. */
void rcore_trial_end_reader(const struct rcore_search *search, struct rcore_ruby *ruby);

/* How often a condition failed in all proofs. */
size_t rcore_trial_missed(const struct rcore_trial *trial);

/*
 * Returns whether `trial` is better than `best`, which was tried before and may
 * be empty (count 0). Of two builds of one release, the better one is that
 * whose conditions hold more often, because a wrong one may pass by chance. A
 * layout that was not measured on this release must be better in the structs
 * that differ between releases: the address of an objspace or a symbol table
 * shows nothing about the VM and its threads.
 */
bool rcore_trial_is_better(const struct rcore_trial *trial, const struct rcore_trial *best);

/* Whether `next` need not be tried after `best`. */
bool rcore_trial_settles(const struct rcore_trial *best, const struct rcore_layout *next);

/* Sets the snapshot's layout_*, vm_*, shifts, unmeasured and proofs. */
void rcore_trial_describe(const struct rcore_trial *trial, struct rcore_snapshot *snapshot);

#endif
