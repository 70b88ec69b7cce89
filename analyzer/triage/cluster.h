/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CLUSTER_H
#define RCORE_TRIAGE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct rcore_result_texts {
	const char **items;
	size_t count;
};

/* All objects, and the largest classes. */
struct rcore_result_heap {
	bool is_known;
	uint64_t objects, bytes;
	struct rcore_result_texts classes;
	/* As many as there are classes. */
	uint64_t *class_objects, *class_bytes;
	const char *problem; /* why it is not known; may be NULL */
};

/*
 * What is known about one core after its analysis. The strings belong to
 * somebody else.
 */
struct rcore_result {
	const char *core;
	/*
	 * Exit status of its analysis: 0, 1, 2, 3; or 124 if it exceeded its
	 * limits.
	 */
	int status;
	const char *ruby; /* this and the rest: NULL if unknown */
	const char *cause;
	/* The last words of the process: of rb_bug(), and of abort(). */
	const char *bug, *abort_message;
	const char *blame, *path, *gem, *native;
	int line;
	const char *loose, *strict; /* the signatures */
	const char *loose_text;     /* the text of the loose signature */
	const char *error;          /* why nothing more is known */
	/* "2026-11-23T09:05:12Z"; sources as in model/deployment.h. */
	const char *time, *time_source;
	const char *host, *host_source, *service, *release;
	int pid;
	const char *signal;   /* "SIGSEGV": the first one, not abort()'s */
	const char *build_id; /* of the file with the VM */
	/* The innermost frames of the stack that died. */
	struct rcore_result_texts ruby_frames, native_frames;
	struct rcore_result_heap heap;
};

enum rcore_novelty { RCORE_NOVELTY_UNKNOWN, RCORE_NOVELTY_NEW, RCORE_NOVELTY_KNOWN };

/* Cores with the same loose signature. */
struct rcore_cluster {
	const char *signature;
	/* The example that reports show: the least incomplete. */
	const struct rcore_result *first;
	const struct rcore_result **results;
	size_t count;
	enum rcore_novelty novelty; /* UNKNOWN: there is no baseline */
	/*
	 * The most similar one among the larger clusters and the baseline's
	 * signatures. NULL if none is similar enough.
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
	/* Results that only the baseline has, one for each signature. */
	const struct rcore_result **gone;
	size_t gone_count;
};

/*
 * Compares two stacks, given with one frame per line. Returns the percentage of
 * their lines that are the same frames in the same order.
 */
unsigned rcore_similarity(const char *left, const char *right);

/*
 * Groups results by signature. `baseline` has the results of an earlier run,
 * or NULL. All memory belongs to the arena. Error: NO_MEMORY.
 */
struct rcore_error *rcore_cluster_make(const struct rcore_result *results, size_t count,
				       const struct rcore_result *baseline,
				       size_t baseline_count, struct rcore_arena *arena,
				       struct rcore_clusters *ret);

#endif
