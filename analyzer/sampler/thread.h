/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_THREAD_H
#define RCORE_SAMPLER_THREAD_H

/* A thread that is sampled: its stack, its processor time and its state. */

#include "sampler/sampler.h"
#include "sampler/track.h"

struct rcore_native_thread;

/*
 * How much is known about a thread that waits. What the kernel counts proves
 * that it has not run since, so its stack is still what was read last.
 */
enum rcore_thread_sleep {
	RCORE_SLEEP_UNKNOWN,
	RCORE_SLEEP_NOTED,  /* it slept when `slices` had been read */
	RCORE_SLEEP_COPIED, /* and its stack was read after that */
};

struct rcore_sampled_thread {
	uint64_t address; /* rb_thread_t */
	uint64_t ractor;  /* rb_ractor_t; 0 before 3.0 */
	char id[16];
	int tid;
	int inner_tid;            /* as the process itself sees it */
	int first_tid;            /* the first one that was found */
	uint64_t native_thread;   /* rb_native_thread for which tid was set */
	int schedstat, syscall;   /* files in /proc; -1: not open */
	uint64_t cpu, cpu_looked; /* from schedstat, and when it was read */
	/* From schedstat: how often it got a processor; 0: unknown. */
	uint64_t slices;
	uint64_t queued; /* from schedstat: for how long it waited for one */
	enum rcore_thread_sleep sleep;
	uint64_t cpu_of_round; /* at the last round of parked fibers */
	size_t round_run;      /* the last one before which it has run */
	uint64_t last_looked;  /* when it was last sampled */
	uint64_t name;         /* VALUE of its name when that was read */
	uint64_t fiber_ec;     /* the EC to which track.fiber belongs */
	uint64_t fiber_address;
	uint64_t first_fiber; /* rb_fiber_t; 0: not seen */
	enum rcore_sample_state state;
	uint32_t state_number;
	/* The node and the status for which the wait was looked up. */
	uint32_t waited_node, waited_status;
	uint64_t waited_self, waited_at;
	bool was_running, is_listed;
	bool is_asked;      /* rcore_sampler_waits() looks up its wait */
	size_t fiber_count; /* of its fibers seen so far */
	struct rcore_track track;
};

/* thread_list.c */
struct rcore_error *rcore_sampler_list(struct rcore_sampler *sampler);
/*
 * Returns whether the threads are still those of the list. Sets are_counted.
 */
bool rcore_sampler_list_holds(struct rcore_sampler *sampler);
/* Returns the thread whose rb_thread_t has this address, or NULL. */
struct rcore_sampled_thread *rcore_sampler_thread_at(const struct rcore_sampler *sampler,
						     uint64_t address);
/*
 * Adds a thread that the VM's lists lack, because it has ended. `tid` is 0 if
 * it is unknown. The sampler owns it. Returns NULL if memory is short.
 */
struct rcore_sampled_thread *rcore_sampler_add_thread(struct rcore_sampler *sampler,
						      uint64_t address, int tid);
/* Adds the last samples of a thread that has ended, and frees it. */
void rcore_sampler_remove_thread(struct rcore_sampler *sampler,
				 struct rcore_sampled_thread *thread);
void rcore_sampled_thread_free(struct rcore_sampled_thread *thread);
/* Sets the thread's name if it has changed. */
void rcore_sampler_name_thread(struct rcore_sampler *sampler,
			       struct rcore_sampled_thread *thread);

/*
 * thread_time.c. rcore_thread_time() reads the nanoseconds that the thread was
 * on a processor since the last call, and those that it waited for one. The
 * first call opens a file; with BPF, it is not called, so no file is open.
 * Returns false if the time is unknown.
 */
bool rcore_thread_time(const struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		       uint64_t *ret, uint64_t *ret_queued);
/*
 * Notes that the thread sleeps: rcore_thread_runs() returned 0 after
 * rcore_thread_time() had read the time.
 */
void rcore_thread_note_sleep(struct rcore_sampled_thread *thread);
/*
 * Returns whether a thread that was noted as asleep has not run since.
 * Otherwise forgets that it slept.
 */
bool rcore_thread_sleeps_on(struct rcore_sampled_thread *thread);
/* Forgets what is known about the kernel thread, before `tid` changes. */
void rcore_thread_time_close(struct rcore_sampled_thread *thread);
/*
 * Switches a thread's clock to the kernel thread that runs it now: M:N threads
 * (RUBY_MN_THREADS, and those of Ractors, from 3.3 on) change kernel threads.
 */
void rcore_thread_follow(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread);
/*
 * Notes that a kernel thread runs this thread now, and no other one that ran
 * there before. rcore_thread_time() then fails.
 */
void rcore_thread_move(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		       int tid);
/* Returns the same since the kernel thread began; 0: unknown. */
uint64_t rcore_thread_time_total(const struct rcore_sampled_thread *thread);
/* Returns the same for any kernel thread of the process. */
uint64_t rcore_thread_ran(const struct rcore_sampler *sampler, uint32_t tid);
/* Returns false only if the process surely has no such kernel thread. */
bool rcore_thread_exists(const struct rcore_sampler *sampler, uint32_t tid);
/*
 * Returns the kernel's id of a thread in rcore's pid namespace, or 0 if
 * unknown; *ret_inner is the id in the process's own.
 */
int rcore_thread_tid(struct rcore_sampler *sampler, uint64_t thread, int *ret_inner);
/*
 * Returns 1 if it runs, or would run if it had a processor; 0 if not; -1 if the
 * kernel does not say.
 */
int rcore_thread_runs(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread);
/*
 * Reads the registers of the system call that the thread is in. Returns false
 * if it runs, or if that is unknown.
 */
bool rcore_thread_registers(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			    struct rcore_native_thread *ret);

/*
 * thread_state.c. `rests`: the thread was blocked, and its stack is the same.
 * `is_busy` decides whether a thread without the GVL runs if the kernel does
 * not say: it used a processor for more than half of the time.
 */
void rcore_sampler_state(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			 bool rests, bool is_busy, uint64_t now);
/* Returns whether the wait of a blocked thread is to be looked up again. */
bool rcore_sampler_is_wait_due(const struct rcore_sampled_thread *thread, uint64_t now);
bool rcore_sampler_holds_gvl(const struct rcore_sampler *sampler,
			     const struct rcore_sampled_thread *thread);
uint32_t rcore_sampler_plain_state(struct rcore_sampler *sampler, enum rcore_sample_state kind);

#endif
