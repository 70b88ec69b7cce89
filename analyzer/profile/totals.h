/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_TOTALS_H
#define RCORE_PROFILE_TOTALS_H

#include "model/redaction.h"
#include "profile/label_keys.h"
#include "profile/profile.h"

/*
 * Adds up samples; every output is made of the totals. The memory used depends
 * on how many different stacks, states and sets of labels there are, not on how
 * long the program was watched. The strings of totals can be printed: they are
 * redacted, and escaped as by rcore_escape().
 */

/*
 * Which samples are counted. Two recordings can be compared: `new` and `old`.
 */
enum rcore_side { RCORE_SIDE_NEW, RCORE_SIDE_OLD, RCORE_SIDES };

/* Returns the sum of what both sides have. */
static inline uint64_t rcore_both_sides(const uint64_t sides[RCORE_SIDES])
{
	return sides[RCORE_SIDE_NEW] + sides[RCORE_SIDE_OLD];
}

struct rcore_amounts {
	uint64_t wall, cpu; /* nanoseconds */
	uint64_t count;     /* samples */
};

/*
 * What a total belongs to, as numbers of totals->profile. Parts that the totals
 * do not keep apart are 0.
 */
struct rcore_total_key {
	uint32_t node, thread, fiber, state, labels;
};

/*
 * Samples of a thread, or of a parked fiber, that follow each other and have
 * one key; the time of the first.
 */
struct rcore_timed {
	uint64_t time;      /* nanoseconds since its recording began */
	uint64_t wall, cpu; /* nanoseconds */
	uint32_t key;
};

struct rcore_timeline {
	struct rcore_timed *items; /* as in the recording: not in order */
	size_t count, capacity;
	/* The last item, as its number plus one. */
	struct rcore_timeline_last {
		uint32_t *items;
		size_t capacity;
	} by_thread, by_parked_fiber, by_key;
};

/* What the samples of a process add up to, and when it ended. */
struct rcore_process_total {
	struct rcore_amounts amounts;
	/*
	 * Wall time of its threads in nanoseconds, without parked fibers, and
	 * how much of it they waited for the GVL.
	 */
	uint64_t threads, gvl;
	uint64_t ended; /* as rcore_profile_ended() */
};

enum rcore_by {
	RCORE_BY_NOTHING,
	RCORE_BY_PROCESS,
	RCORE_BY_THREAD,
	RCORE_BY_FIBER,
	RCORE_BY_STATE,
	RCORE_BY_LABEL,
};

struct rcore_totals_options {
	/*
	 * Counts only samples whose labels meet all of these: "key=value", or
	 * "key" for any value.
	 */
	const char *const *where;
	size_t where_count;
	/*
	 * Each stack gets an outermost frame that names its group: "4242 puma:
	 * cluster worker 0", "T3", "running", "tenant=acme".
	 */
	enum rcore_by by;
	const char *by_label; /* the key, for RCORE_BY_LABEL */
	enum rcore_redact redact;
	/* Keeps these apart, for an output that prints them. */
	bool keeps_threads; /* with their states */
	bool keeps_labels;  /* with fibers */
	bool keeps_lines;   /* of frames */
	bool keeps_times;   /* of samples, in `timelines` */
};

struct rcore_totals {
	struct rcore_profile *profile; /* it has no samples */
	struct rcore_record_set keys;  /* struct rcore_total_key */
	/* As many, by side; NULL if nothing was added to that side. */
	struct rcore_amounts *amounts[RCORE_SIDES];
	/* Empty unless options.keeps_times. */
	struct rcore_timeline timelines[RCORE_SIDES];
	/* By process; read them with rcore_totals_process(). */
	struct {
		struct {
			struct rcore_process_total sides[RCORE_SIDES];
		} * items;
		size_t count, capacity;
	} processes;
	/* Nanoseconds from the first to the last sample. */
	uint64_t durations[RCORE_SIDES];
	struct rcore_amounts sums[RCORE_SIDES];
	uint64_t filtered; /* samples that did not meet `where` */
	bool has_label;    /* a sample had the key `by_label` */
	/* With `where` or `by_label`: the keys that any sample has. */
	struct rcore_label_keys label_keys;
	/*
	 * There were more different stacks, fibers and labels than fit in
	 * memory. Further samples were added up without these.
	 */
	bool is_full;
	/* Private. */
	struct rcore_totals_options options;
	struct rcore_totals_merge *merge;
	struct rcore_totals_span {
		uint64_t first, last;
		bool has_samples;
	} spans[RCORE_SIDES];
	size_t capacities[RCORE_SIDES];
};

/* `options`, and what it points to, must outlive the totals. */
struct rcore_error *rcore_totals_new(const struct rcore_totals_options *options,
				     struct rcore_totals **ret);
void rcore_totals_free(struct rcore_totals *totals); /* NULL-safe */

/*
 * Adds the samples of `profile`, which keeps them. Translates each of its
 * tables once, and then only what was added later, until the profile's
 * generation changes or another profile is added. Error: NO_MEMORY.
 */
struct rcore_error *rcore_totals_add(struct rcore_totals *totals,
				     const struct rcore_profile *profile, enum rcore_side side);

/*
 * Forgets what it keeps of the profile that was added last. Call it before that
 * is freed if another will be added, which may get the same address.
 */
void rcore_totals_forget_profile(struct rcore_totals *totals);

/*
 * Adds the titles of processes to the names of their groups. Call it once,
 * after everything was added: a title may change as long as its process runs.
 */
void rcore_totals_name_processes(struct rcore_totals *totals);

/*
 * totals_times.c: adds the time of a sample to the duration of its side. A
 * sample represents the time around it. One that sums up several samples has
 * the time of the first of these, and begins half of what one of them
 * represents before that.
 */
void rcore_totals_add_time(struct rcore_totals *totals,
			   const struct rcore_profile_sample *sample, enum rcore_side side);
/*
 * totals_times.c: keeps a sample for the timeline. If the one before it of the
 * same thread or parked fiber has the same key, that becomes longer instead;
 * once memory is full, the last one with the same key. `whole` is the key with
 * all its parts. Returns false if memory is short.
 */
bool rcore_totals_keep_time(struct rcore_totals *totals, enum rcore_side side, uint32_t key,
			    const struct rcore_total_key *whole,
			    const struct rcore_profile_sample *sample);
/*
 * totals_times.c: scales the old side to the duration of the new one, so that
 * the two can be compared.
 */
void rcore_totals_scale(struct rcore_totals *totals);

/*
 * totals_processes.c: adds a sample to those of its process. `whole` is the key
 * with all its parts. Sets profile->no_memory if memory is short.
 */
void rcore_totals_add_process(struct rcore_totals *totals, enum rcore_side side,
			      const struct rcore_total_key *whole,
			      const struct rcore_profile_sample *sample);
void rcore_totals_end_process(struct rcore_totals *totals, enum rcore_side side,
			      uint32_t process, uint64_t time);
/* Returns zeroes for a process of which nothing was added. */
struct rcore_process_total rcore_totals_process(const struct rcore_totals *totals,
						uint32_t process, enum rcore_side side);

static inline const struct rcore_total_key *rcore_totals_key(const struct rcore_totals *totals,
							     size_t index)
{
	return (const struct rcore_total_key *)totals->keys.items + index;
}

static inline struct rcore_amounts rcore_totals_amounts(const struct rcore_totals *totals,
							size_t index, enum rcore_side side)
{
	return index < totals->capacities[side] ? totals->amounts[side][index]
						: (struct rcore_amounts){0};
}

#endif
