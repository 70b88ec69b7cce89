/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SAMPLING_H
#define RCORE_SAMPLER_SAMPLING_H

#include <signal.h>

#include "sampler/bpf/engine.h"
#include "sampler/sampler.h"

/*
 * Samples a process, or it and its descendants, or each process of this machine
 * that runs Ruby, at a rate, until it ends, the time is over, or the caller
 * asks to stop. Finds processes that start, end or become other programs
 * meanwhile.
 */
struct rcore_sampling;

struct rcore_sampling_options {
	int pid; /* 0: `system` */
	/*
	 * When it was started (base/clock.h): it may not be Ruby yet. 0: long
	 * ago, or unknown.
	 */
	uint64_t began;
	bool children; /* also its descendants */
	/*
	 * All that run Ruby (session/live/ruby_processes.h), until the time is
	 * over. Processes that start later are found.
	 */
	bool system;
	double rate; /* per second */
	/* At most this if native frames need stops; 0: `rate`. */
	double stopped_rate;
	double seconds; /* 0: until it ends */
	const struct rcore_options *open;
	struct rcore_sampler_options sampler;
	const volatile sig_atomic_t *stop; /* stop if this is not 0 */
	/*
	 * If `bpf` is not NULL, the BPF program copies the stacks of threads
	 * that run, `rate` times in each second on a processor. The caller has
	 * opened it with this rate, and closes it.
	 */
	const struct rcore_bpf_engine *engine;
	struct rcore_bpf *bpf;
	/*
	 * Called if the BPF program cannot sample a process; it is then sampled
	 * without BPF. `why` belongs to the caller. If this is NULL, such a
	 * process is not sampled, which is an error if it is `pid`.
	 */
	void (*refused)(int pid, const struct rcore_error *why, void *context);
	/*
	 * Called for each process that could not be sampled, when it ends or
	 * when the sampling ends, unless the process had only just started; may
	 * be NULL. `title` may be NULL; it and `why` belong to the caller.
	 */
	void (*left_out)(int pid, const char *title, const struct rcore_error *why,
			 void *context);
	/*
	 * Called about once a second, and at the end; may be NULL. An error
	 * stops the sampling.
	 */
	struct rcore_error *(*each_second)(struct rcore_sampling *sampling, bool is_last,
					   void *context);
	/*
	 * Called to sleep until a time (base/clock.h), even while there is
	 * nothing to sample; may be NULL. To stop, it returns false at once.
	 * Not with `bpf`.
	 */
	bool (*sleep)(uint64_t until, void *context);
	void *context;
};

/*
 * Which percentage of the time in which they could run threads waited for a
 * processor; 0 if that is less than RCORE_SAMPLING_QUEUED. On a busy machine,
 * samples are taken at some places of the code too often, probably where the
 * thread lets go of the processor, so the CPU times of methods become wrong.
 * BPF samples do not have this fault.
 */
enum { RCORE_SAMPLING_QUEUED = 10 };
double rcore_sampling_queued_percent(const struct rcore_sampler_statistics *statistics);

struct rcore_sampling_summary {
	struct rcore_sampler_statistics total; /* of all processes */
	double seconds;  /* from the first tick to the end of the last one */
	double achieved; /* ticks per second */
	/* Of a processor, for rcore itself, also after the last tick. */
	double own_percent;
	size_t processes; /* that were sampled */
	size_t copied;    /* of these, with BPF */
	/* `pid` became another program after rcore had begun to sample it. */
	bool has_executed;
	/* It ended because no process was left, not because it was stopped. */
	bool has_ended;
	/*
	 * With has_ended: `pid` still runs, but can no longer be sampled. It
	 * became a program that is not Ruby (is_foreign), or `why` says why
	 * ("": unknown).
	 */
	bool is_alive, is_foreign;
	char why[160];
};

/*
 * Errors: that of the process, if there was only one to sample; NOT_RUBY if no
 * process of this machine runs Ruby; UNSUPPORTED if none of these could be
 * sampled; that of `each_second`; NO_MEMORY. `profile` has what was sampled,
 * even if there is an error.
 */
struct rcore_error *rcore_sampling_run(const struct rcore_sampling_options *options,
				       struct rcore_profile *profile);

/* For `each_second` to call. */
void rcore_sampling_summary(const struct rcore_sampling *sampling,
			    struct rcore_sampling_summary *ret);
/* Returns the sampler of a process, or NULL after the last one. */
struct rcore_sampler *rcore_sampling_at(struct rcore_sampling *sampling, size_t index);

#endif
