/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SAMPLING_PRIVATE_H
#define RCORE_SAMPLER_SAMPLING_PRIVATE_H

#include "sampler/host.h"
#include "sampler/sampling.h"

/* A process that is sampled, or may be sampled later. */
struct rcore_member {
	int pid;
	struct rcore_sampler *sampler; /* NULL: not yet, or not Ruby */
	uint64_t found, next_try, wait;
	struct rcore_error *problem; /* why it is not sampled */
	char *title;                 /* when that was first known, or NULL */
	bool is_given_up;
	bool was_sampled;
	bool is_copied;  /* the BPF program copies its stacks */
	bool is_refused; /* the BPF program cannot copy its stacks */
	int attempts;    /* to find what the program needs */
	uint32_t use;    /* struct rcore_profile_process.use */
	/* What the program knows about it. */
	struct rcore_bpf_process process;
	uint64_t mappings; /* rcore_sampler_code_mappings() at that time */
	uint64_t build;    /* rcore_sampler_build() */
	uint64_t samples;  /* when contexts were last looked for */
};

/* The last process that had this id. */
struct rcore_pid_use {
	int pid;
	uint32_t count;   /* of processes that had it until now */
	uint64_t started; /* when, as /proc has it; 0: not known */
	/*
	 * The summary counts it. Another program that it executes is not
	 * counted.
	 */
	bool was_sampled, was_copied;
};

/* One read of the BPF program's records. */
struct rcore_reading {
	uint64_t begun, deadline;
	uint64_t reached; /* records up to this time were read */
	bool is_last;     /* reads all records up to `begun` */
};

struct rcore_sampling {
	const struct rcore_sampling_options *options;
	struct rcore_profile *profile;
	struct {
		struct rcore_member *items;
		size_t count, capacity;
	} members;
	struct rcore_host *host; /* NULL: not options.system */
	struct {
		struct rcore_pid_use *items;
		size_t count, capacity;
	} uses;
	struct rcore_sampling_summary summary;
	/* Whether the last problem that ended a process was options->pid's. */
	bool is_last_of_root;
	struct rcore_sampler_options sampler_options;
	struct rcore_options open;
	uint64_t begun, ticks, last_tree, last_second, random;
	uint64_t reports;            /* how often each_second was called */
	bool is_stopped;             /* by options->sleep */
	uint64_t ended;              /* 0: samples are still taken */
	uint64_t fiber_time;         /* rcore_sampler_options.fiber_time */
	struct rcore_error *failure; /* why a record could not be added */
	struct rcore_reading reading;
	/* Records are added as they come: rcore_sampler_asks_for_work(). */
	bool is_urgent;
	uint64_t late;       /* records left at the deadline of the last read */
	uint64_t kept;       /* rcore_sampler_options.kept */
	uint64_t next_waits; /* when to look up waits again */
	size_t waits_turn;   /* the number of looks at one process */
	double cpu_begun;
};

/*
 * Lets this thread run as soon as it wakes (time_slice.c). If the kernel cannot
 * do that, nothing changes.
 */
void rcore_sampling_shorten_slice(void);

/*
 * Returns whether the last call of each_second() was at least a second before
 * `now`, when the tick began. With BPF, the first second begins only after the
 * first tick has begun.
 */
bool rcore_sampling_is_report_due(const struct rcore_sampling *sampling, uint64_t now);

static inline bool rcore_sampling_is_stopped(const struct rcore_sampling_options *options)
{
	return options->stop && *options->stop;
}

/* sampling_summary.c: the processor time that rcore has used, in seconds. */
double rcore_sampling_cpu(void);
/*
 * Returns why no process was sampled; NULL: unknown. `last` is why the last one
 * could not be sampled, or NULL; takes ownership of it. Errors: NOT_RUBY, OS,
 * UNSUPPORTED, or that of `last`.
 */
struct rcore_error *rcore_sampling_why_nothing(struct rcore_sampling *sampling,
					       struct rcore_error *last);

/*
 * sampling_records.c: adds the records that the BPF program has written since
 * the last call. Error: NO_MEMORY.
 */
struct rcore_error *rcore_records_add(struct rcore_sampling *sampling);
/*
 * Adds all records that were written up to this call. If that ends too long
 * after `now`, counts the rest as lost. Error: NO_MEMORY.
 */
struct rcore_error *rcore_records_add_last(struct rcore_sampling *sampling, uint64_t now);

/* sampling_members.c: finds, adds and drops processes. */
struct rcore_member *rcore_member_find(struct rcore_sampling *sampling, int pid);
/* Error: NO_MEMORY. */
struct rcore_error *rcore_member_add(struct rcore_sampling *sampling, int pid, uint64_t now);
/* Tries it again soon: it is another program now. */
void rcore_member_restart(struct rcore_member *member, uint64_t now);
/*
 * Begins to sample the process if it is time to try; otherwise returns false.
 * Sets member->problem if that fails.
 */
bool rcore_member_try(struct rcore_sampling *sampling, struct rcore_member *member,
		      uint64_t now);
/* Ends its samples; it stays a member. */
void rcore_member_leave(struct rcore_sampling *sampling, struct rcore_member *member);
/*
 * Removes a member. If it was sampled and has ended, the profile gets its end.
 */
void rcore_member_drop(struct rcore_sampling *sampling, size_t index);
/*
 * Returns whether no process is sampled, and none will be soon: all have
 * problems that will not go away when they have started.
 */
bool rcore_members_are_hopeless(const struct rcore_sampling *sampling, uint64_t now);
/*
 * Adds descendants, or Ruby processes of this machine, that are new. Errors:
 * NO_MEMORY, OS.
 */
struct rcore_error *rcore_members_find(struct rcore_sampling *sampling, uint64_t now);
/*
 * Settles all samplers before a report, and completes the rounds of parked
 * fibers before the last one.
 */
void rcore_members_settle(struct rcore_sampling *sampling, bool is_last);
/*
 * Looks for the variable of the gem ruby-profiler in each process that has
 * loaded a library.
 */
void rcore_members_find_contexts(struct rcore_sampling *sampling);
/* Adds up the statistics of samplers. */
void rcore_statistics_add(struct rcore_sampler_statistics *total,
			  const struct rcore_sampler_statistics *one);

/*
 * pid_uses.c: returns how many processes had this id until now; 0: memory is
 * short. A process that executes another program is still the same.
 */
uint32_t rcore_pid_use_count(struct rcore_sampling *sampling, int pid);
/* Counts a process in the summary, once. */
void rcore_pid_use_sampled(struct rcore_sampling *sampling, const struct rcore_member *member);
bool rcore_process_is_alive(int pid);

#endif
