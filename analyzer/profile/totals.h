/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_TOTALS_H
#define RCORE_PROFILE_TOTALS_H

#include "model/redaction.h"
#include "profile/profile.h"

/*
 * Samples added up, which is what every output is made of. Memory follows what
 * differs (stacks, states, sets of labels), not how long the program was
 * watched. Strings of totals can be printed: they are redacted, and escaped as
 * by rcore_escape().
 */

/* What is counted. Two recordings can be compared: `new` and `old`. */
enum rcore_side { RCORE_SIDE_NEW, RCORE_SIDE_OLD, RCORE_SIDES };

struct rcore_amounts {
	uint64_t wall, cpu; /* nanoseconds */
	uint64_t count;     /* samples */
};

/*
 * What a total is of; numbers of totals->profile. What the totals do not keep
 * apart is 0.
 */
struct rcore_total_key {
	uint32_t node, thread, fiber, state, labels;
};

struct rcore_total {
	struct rcore_amounts sides[RCORE_SIDES];
};

enum rcore_by {
	RCORE_BY_NOTHING,
	RCORE_BY_THREAD,
	RCORE_BY_FIBER,
	RCORE_BY_STATE,
	RCORE_BY_LABEL,
};

struct rcore_totals_options {
	/*
	 * Only samples whose labels meet all of these: "key=value", or "key"
	 * for any value.
	 */
	const char *const *where;
	size_t where_count;
	/*
	 * Each stack begins with a frame that names its group: "T3", "running",
	 * "tenant=acme".
	 */
	enum rcore_by by;
	const char *by_label; /* the key */
	enum rcore_redact redact;
	/* Keep these apart for an output that has them. */
	bool keeps_threads; /* and their states */
	bool keeps_labels;  /* and fibers */
};

struct rcore_totals {
	struct rcore_profile *profile; /* its samples are empty */
	struct rcore_record_set keys;  /* struct rcore_total_key */
	struct rcore_total *items;     /* as many */
	/* Nanoseconds from the first sample to the last. */
	uint64_t durations[RCORE_SIDES];
	struct rcore_amounts sums[RCORE_SIDES];
	uint64_t filtered; /* samples that did not meet `where` */
	/*
	 * There were more different stacks, fibers and labels than fit in
	 * memory: further ones are added up without what makes them different.
	 */
	bool is_full;
	/* Private. */
	struct rcore_totals_options options;
	struct rcore_totals_merge *merge;
	size_t capacity;
};

/* `options`, and what it points to, outlives the totals. */
struct rcore_error *rcore_totals_new(const struct rcore_totals_options *options,
				     struct rcore_totals **ret);
void rcore_totals_free(struct rcore_totals *totals); /* NULL-safe */

/*
 * Adds the samples of `profile`, and leaves these there. Of each profile the
 * tables are translated once and what was added to them later, until its
 * generation changes or another profile is added. Error: NO_MEMORY.
 */
struct rcore_error *rcore_totals_add(struct rcore_totals *totals,
				     const struct rcore_profile *profile, enum rcore_side side);

/*
 * Scales what is old to the time that what is new took, so that the two can be
 * compared.
 */
void rcore_totals_scale(struct rcore_totals *totals);

static inline const struct rcore_total_key *rcore_totals_key(const struct rcore_totals *totals,
							     size_t index)
{
	return (const struct rcore_total_key *)totals->keys.items + index;
}

#endif
