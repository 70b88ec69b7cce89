/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SAMPLING_H
#define RCORE_SAMPLER_SAMPLING_H

#include <signal.h>

#include "sampler/sampler.h"

/*
 * Samples a process, or it and what descends from it, at a rate, until it ends,
 * the time is over or somebody asks for an end. Processes that start, end or
 * become other programs meanwhile are found and left.
 */
struct rcore_sampling;

struct rcore_sampling_options {
	int pid;
	bool is_new;    /* it was just started: wait until it is Ruby */
	bool children;  /* what descends from it, too */
	double rate;    /* per second */
	double seconds; /* 0: until the end */
	const struct rcore_options *open;
	struct rcore_sampler_options sampler;
	const volatile sig_atomic_t *stop; /* not 0: end */
	/*
	 * Called about once a second, and at the end; may be NULL. An error
	 * ends it all.
	 */
	struct rcore_error *(*each_second)(struct rcore_sampling *sampling, bool is_last,
					   void *context);
	/*
	 * Called before each tick, and now and then while there is nothing to
	 * sample; may be NULL. False: end.
	 */
	bool (*each_tick)(void *context);
	void *context;
};

struct rcore_sampling_summary {
	struct rcore_sampler_statistics total; /* of all processes */
	double seconds;                        /* from the first tick on */
	double achieved;                       /* ticks a second */
	double cpu_seconds;                    /* of rcore itself */
	size_t processes;                      /* that were sampled */
};

/*
 * Errors: of the only process that there was to sample; of `each_second`;
 * NO_MEMORY. What was sampled is in `profile`, with an error too.
 */
struct rcore_error *rcore_sampling_run(const struct rcore_sampling_options *options,
				       struct rcore_profile *profile);

/* To be called by `each_second`. */
void rcore_sampling_summary(const struct rcore_sampling *sampling,
			    struct rcore_sampling_summary *ret);
/* The sampler of a process; NULL past the last. */
struct rcore_sampler *rcore_sampling_at(struct rcore_sampling *sampling, size_t index);

#endif
