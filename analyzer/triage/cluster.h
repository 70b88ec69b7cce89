/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CLUSTER_H
#define RCORE_TRIAGE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* What is known of one core after its analysis; strings are somebody else's. */
struct rcore_result {
	const char *core;
	/* Exit status of its analysis: 0, 1, 2, 3, or 124: over its limits. */
	int status;
	const char *ruby; /* this and what follows NULL: unknown */
	const char *cause;
	const char *blame, *path, *gem;
	int line;
	const char *loose, *strict; /* the signatures */
	const char *loose_text;     /* what the loose one was made of */
	const char *error;          /* why there is no more */
};

enum rcore_novelty { RCORE_NOVELTY_UNKNOWN, RCORE_NOVELTY_NEW, RCORE_NOVELTY_KNOWN };

/* Cores with the same loose signature. */
struct rcore_cluster {
	const char *signature;
	const struct rcore_result
		*first; /* the one that stands for all: the least incomplete */
	const struct rcore_result **results;
	size_t count;
	enum rcore_novelty novelty; /* UNKNOWN: there is no baseline */
	/*
	 * The most similar of the larger clusters and of the baseline's
	 * signatures; NULL: none is similar enough.
	 */
	const char *similar_to;
	unsigned similarity; /* percent */
};

struct rcore_clusters {
	struct rcore_cluster *items; /* the largest first, then by signature */
	size_t count;
	/* Those without a signature, in their order. */
	const struct rcore_result **failed;
	size_t failed_count;
	/* Of the baseline, one for each signature. */
	const struct rcore_result **gone;
	size_t gone_count;
};

/*
 * Of two stacks, one frame a line: how much of both is the same frames in the
 * same order, in percent.
 */
unsigned rcore_similarity(const char *left, const char *right);

/*
 * `baseline` are the results of an earlier time; NULL: there is none. All
 * memory is the arena's. Error: NO_MEMORY.
 */
struct rcore_error *rcore_cluster_make(const struct rcore_result *results, size_t count,
				       const struct rcore_result *baseline,
				       size_t baseline_count, struct rcore_arena *arena,
				       struct rcore_clusters *ret);

#endif
