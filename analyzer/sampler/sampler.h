/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SAMPLER_H
#define RCORE_SAMPLER_SAMPLER_H

#include "profile/profile.h"
#include "sampler/bpf/record.h"
#include "rcore.h"

/*
 * sampler/ reads the stacks of a running Ruby process again and again. It stops
 * the process only to read native frames (native.h). It includes profile/,
 * session/, vm/ and ruby/. Start here, then read sampling.c (the loop),
 * sampler.c (one tick) and stack/stack.c (one stack).
 *
 * When can a stack that changes while it is read be trusted?
 *
 * A thread that runs short methods pushes or pops a control frame every 20 to
 * 100 ns. One process_vm_readv(2) copies its ranges one after the other. Each
 * takes some 300 ns, because its pages must be pinned. Within a range of one
 * page, the copy itself takes less time than a call, so two neighbouring frames
 * of one copy nearly always existed at the same time. This is not true of
 * ec->cfp, which is elsewhere. If it was read before the frames, it may count
 * frames that have been popped since. Their words are still there, and look
 * right in every respect: "X called Y", although X was pushed after Y was
 * popped. With one copy only, a few per cent of the samples of such a thread
 * have such impossible pairs.
 *
 * So one system call reads, in this order:
 *
 *	thread         th->ec, th->status, the node in the list of threads ...
 *	frames         from the innermost (a guess of the last tick) to the end
 *	               of the VM stack
 *	EC             vm_stack, vm_stack_size, cfp, thread_ptr
 *	values         from the VM stack's start to the innermost sp (a guess)
 *	frames again
 *	values again
 *
 * A sample counts only if the two copies of the frames [cfp, end) are equal,
 * where cfp is that of the EC, and the two copies of their environments (flags,
 * method entries, the links of blocks) among the values. If no word changed in
 * between, everything that was read existed together at the moment when the EC
 * was read.
 *
 * Which words must be equal?
 *
 *   - In all frames except the innermost, every word. While a callee is active,
 *     its caller's pc, sp, iseq, self and ep do not change, and the next call
 *     that the caller makes changes its pc.
 *   - In the innermost frame, iseq, self and ep. Its pc and sp change while its
 *     own code runs, but it is still the same frame. Its line is that of the
 *     first copy.
 *   - In the environment of each frame, every word.
 *   - In the EC, the bounds and the thread. A thread that switches to another
 *     fiber has another EC, and a fiber that ends returns its VM stack.
 *
 * One case remains: a thread that changes a word and changes it back. It leaves
 * a frame, and by the time of the second copy it is in a frame with the same
 * pc, sp, iseq, self and ep again. The result is still true: that call was made
 * just before and just after. (The values between the copies may be of the
 * moment when it was elsewhere. So they are read again: to find the same
 * environment a second time, it would have to go there and back twice.) The EC
 * is read between the copies, not before and after them, for two reasons. If
 * the cfp is read before a frame is left, and again after the frame was entered
 * anew, the two reads say nothing about the copies in between. And the fewer
 * ranges there are between the two copies, the more samples pass: with three
 * reads of the EC, 97 of 100 samples of methods that take less than a
 * microsecond failed.
 *
 * A thread that waits for a lock, the GVL or a descriptor changes nothing. So
 * while a thread stays blocked, most ticks read its frames only once, and no
 * values: if every frame is the one that was decoded last, in every word, it is
 * taken to be the same wait. If one is not, the tick reads the thread again
 * like any other. A thread may also have returned, and wait in the same frames
 * for the next request; so its labels are compared in each tick (work_words.h).
 *
 * Most threads of a server sleep, often for many ticks. Of these, nothing is
 * read: task/TID/schedstat says how often a thread got a processor. First that
 * number is read, then task/TID/syscall, which says that the thread is not
 * running. In a later tick, the number is read again, and then the stack. If
 * the number was the same both times, and is the same in each tick after that,
 * the thread has not run since, and no other thread pushes or pops its frames
 * or switches its fiber. (A coroutine of an M:N thread that waits has no kernel
 * thread: its th->nt is NULL, see thread_sched_wait_running_turn() of
 * thread_pthread.c.) Others do change a few words: compaction corrects the
 * references in the frames, Thread#wakeup sets th->status, and any thread may
 * set the name. So twice a second, when the wait is looked up again, the stack
 * is read like that of any thread that waits. New threads come at the end of
 * the list. It is checked against its head's count and last node, as the nodes
 * of sleeping threads are not read.
 *
 * A thread that the kernel preempted inside vm_push_frame() (vm_insnhelper.c)
 * is different. In 3.0, and from 3.3 on, CRuby fills a frame before ec->cfp
 * counts it. If it counts the frame first (2.7; code of YJIT in 3.1 and 3.2;
 * traits.frames_pushed_first), the innermost frame may be one that was popped
 * before. rcore_codes_is_filled() explains how to distinguish the two. A popped
 * frame is left out, and the sample is marked as below. Only if a method in C
 * calls another one, in 2.7, nothing distinguishes them: in one of a million
 * samples on a busy machine, the innermost method in C is one that was called
 * before.
 *
 * A sample that fails is read again at once, up to RCORE_SAMPLER_ATTEMPTS
 * times, but not more than 500 times a second, because that slows the thread
 * down. If no attempt succeeds, the thread calls and returns faster than it can
 * be read. Then the sample has the outer frames that were equal in both copies
 * and outside of the cfp, and a last frame says that there were more. So the
 * total times of callers are still true; only the time of methods that take
 * less than a microsecond is counted for their callers.
 *
 * Iseqs and method entries are in the heap and are not copied in the same call.
 * The decoders of ruby/ look them up when they are first seen. They read what a
 * tick has copied, and the running process for the rest. code.h explains how
 * they are verified.
 *
 * Ticks come at random intervals around the rate, so that a program with a
 * rhythm of its own is not always sampled at the same point. A sample
 * represents half of the time since the previous one and half of the time to
 * the next one.
 */

struct rcore_kernel_symbols;

enum {
	RCORE_SAMPLER_ATTEMPTS = 5,
	RCORE_SAMPLER_RATE = 99,
	RCORE_SAMPLER_FIBER_RATE = 10,
	RCORE_SAMPLER_NATIVE_RATE = 10, /* ticks, with native frames */
	RCORE_SAMPLER_RATE_MAX = 10000,
};

/* Of a processor, for the parked fibers of one process. */
#define RCORE_SAMPLER_FIBER_SHARE 0.01

/* All zeroes: the defaults. */
struct rcore_sampler_options {
	double fiber_rate; /* of parked fibers, per second; 0: never */
	/*
	 * The share of a processor that this may take. If there are too many
	 * fibers, they take turns, so that each one is sampled less often. 0:
	 * no limit.
	 */
	double fiber_share;
	/*
	 * How many nanoseconds this tick may spend on parked fibers; the
	 * sampler subtracts what it uses. A round that takes longer continues
	 * in the next tick. NULL: no limit. Must outlive the sampler.
	 */
	uint64_t *fiber_time;
	/*
	 * Which keys of contexts become labels; empty: all. Fields of what
	 * fibers work on (recognizers.json) become labels only if `labels`,
	 * `where` or `by_label` names them, because they take time to find.
	 */
	const char *const *labels;
	size_t label_count;
	const char *by_label; /* the label that --by names, or NULL */
	/* "KEY=VALUE" or "KEY": keep only samples with these labels. */
	const char *const *where;
	size_t where_count;
	enum rcore_redact redact;
	/* Also read native frames: each tick stops the process for a moment. */
	bool native;
	/*
	 * The BPF program records threads that leave their processors. A tick
	 * then only finds the threads that wait already.
	 */
	bool off_cpu;
	/*
	 * Names of the kernel's frames in records of the BPF program; NULL:
	 * leave these frames out. Must outlive the sampler.
	 */
	const struct rcore_kernel_symbols *kernel;
	/* What records of kind ENTERED number. Must outlive the sampler. */
	const struct rcore_bpf_function *functions;
	size_t function_count;
	/*
	 * How many bytes of records all samplers keep for off_cpu; NULL: they
	 * keep as many as there are.
	 */
	uint64_t *kept;
	/*
	 * struct rcore_profile_process.use of the process; 0: 1, because no
	 * other process had its id.
	 */
	uint32_t pid_use;
	/*
	 * Keep only samples of threads that run or collect garbage, as the BPF
	 * program does.
	 */
	bool only_running;
	bool is_single; /* for tests: trust the first copy */
	/*
	 * CLOCK_MONOTONIC at time 0 of the profile. If 0, time 0 is when the
	 * sampler has been opened: see rcore_sampler_begun().
	 */
	uint64_t begun;
};

struct rcore_sampler_statistics {
	uint64_t ticks;
	uint64_t samples; /* of threads */
	/* Stacks that did not agree, and were read again. */
	uint64_t rejected;
	/* Samples of which only the outer frames are known. */
	uint64_t partial;
	uint64_t lost; /* samples without any frame */
	/* Innermost frames that were just pushed or popped. */
	uint64_t unfilled;
	/*
	 * Samples without a label of what the thread works on, because the
	 * method had returned, or its variables had changed, when the objects
	 * were read.
	 */
	uint64_t unlabelled;
	/* How long threads ran, and how long they waited for a processor. */
	uint64_t ran_ns, queued_ns;
	uint64_t reads;           /* system calls that copied stacks */
	uint64_t parked;          /* samples of parked fibers */
	uint64_t parked_left;     /* those that `fiber_share` did not allow */
	uint64_t threads, fibers; /* now */
	/* With native frames: ticks that stopped the process, and how long. */
	uint64_t stopped, stopped_ns, longest_stop_ns;
	uint64_t not_stopped; /* ticks that could not stop it */
	/* The process that traced it when it could not be stopped; 0: none. */
	int tracer;
	char tracer_name[32]; /* raw; "": unknown */
	/* Places where native and Ruby frames could not be matched. */
	uint64_t gaps;
	/*
	 * With BPF and native frames: machine stacks, and those of which a
	 * part, or all, is missing.
	 */
	uint64_t unwound, not_unwound;
	/*
	 * With BPF: samples lost because the ring buffer was full, stacks whose
	 * memory was not present, and samples of threads without a Ruby stack
	 * (which include `unread`).
	 */
	uint64_t overruns, unread, foreign;
};

/* Samples one process. */
struct rcore_sampler;

/*
 * Opens a process that runs Ruby and whose VM has started. The samples go to
 * `profile`. Errors: those of rcore_open_pid() and rcore_examine().
 */
struct rcore_error *rcore_sampler_open(int pid, const struct rcore_options *open,
				       const struct rcore_sampler_options *options,
				       struct rcore_profile *profile,
				       struct rcore_sampler **ret);
void rcore_sampler_close(struct rcore_sampler *sampler); /* NULL-safe */

/*
 * Samples all threads, and parked fibers if it is time. Errors: OS if the
 * process has ended or has become another program; NO_MEMORY.
 */
struct rcore_error *rcore_sampler_tick(struct rcore_sampler *sampler);

/*
 * These replace rcore_sampler_tick() if the BPF program copies the stacks
 * (bpf/). begin_records() begins a tick; after it, add_record() adds each
 * SAMPLE that has arrived, as `cpu` nanoseconds on a processor. A record is not
 * changed or kept. Errors: as rcore_sampler_tick().
 */
struct rcore_error *rcore_sampler_begin_records(struct rcore_sampler *sampler);
struct rcore_error *rcore_sampler_add_record(struct rcore_sampler *sampler,
					     const struct rcore_bpf_record *record,
					     uint64_t cpu);
/*
 * These do the same for records of --off-cpu: LEFT, RETURNED and ENDED, of
 * `size` bytes.
 */
struct rcore_error *rcore_sampler_begin_switches(struct rcore_sampler *sampler);
struct rcore_error *rcore_sampler_add_switch(struct rcore_sampler *sampler,
					     const struct rcore_bpf_record *record,
					     size_t size);
/*
 * Looks up what threads wait for, if that is not known yet or may have changed:
 * a limited number of waits in each call, first those that have waited for it
 * the longest. Takes longer the more threads the process has.
 */
void rcore_sampler_look_up_waits(struct rcore_sampler *sampler);
/*
 * Does the same for a system call that has returned: CALLED, and for a function
 * that was called: ENTERED. The wall time of the sample is the number of bytes
 * that the system call moved.
 */
struct rcore_error *rcore_sampler_add_call(struct rcore_sampler *sampler,
					   const struct rcore_bpf_record *record);
/* Notes that all records up to `time` were added. */
void rcore_sampler_end_records(struct rcore_sampler *sampler, uint64_t time);

/*
 * Finds what the BPF program must know about the process. Stops the process for
 * a moment, up to three times. Errors: UNSUPPORTED (the program cannot read
 * this Ruby), those of rcore_open_pid(), rcore_load() and rcore_bpf_params().
 */
struct rcore_error *rcore_sampler_bpf_process(const struct rcore_sampler *sampler,
					      struct rcore_bpf_process *ret);

/*
 * Does the same without a stop, if `known` is of a process with the same Ruby
 * (rcore_sampler_build()). Returns false if it cannot.
 */
bool rcore_sampler_bpf_process_like(const struct rcore_sampler *sampler,
				    const struct rcore_bpf_process *known,
				    struct rcore_bpf_process *ret);

/*
 * Returns a number that two processes share only if they run the same build of
 * Ruby; 0: unknown.
 */
uint64_t rcore_sampler_build(const struct rcore_sampler *sampler);

/*
 * Returns whether rcore_sampler_bpf_process() failed for a reason that may soon
 * be gone, so that it can be called again.
 */
bool rcore_sampler_bpf_may_pass(const struct rcore_error *err);

/* Returns CLOCK_MONOTONIC at time 0 of the profile, in nanoseconds. */
uint64_t rcore_sampler_begun(const struct rcore_sampler *sampler);

/* Returns an error if the process has ended or has become another program. */
struct rcore_error *rcore_sampler_check(const struct rcore_sampler *sampler);
/*
 * Returns whether the process has executed another program since it was opened.
 */
bool rcore_sampler_has_executed(const struct rcore_sampler *sampler);

/*
 * Returns whether the options name fields of what fibers work on. To find
 * these, records of the BPF program must be added soon after they were written:
 * what a record lacks is read from the process.
 */
bool rcore_sampler_asks_for_work(const struct rcore_sampler *sampler);

/*
 * Returns how many mappings of files have code. The number changes if the
 * process loads a library. If it loads the gem ruby-profiler, the gem's
 * variable can then be found.
 */
uint64_t rcore_sampler_code_mappings(const struct rcore_sampler *sampler);

/*
 * Ends the round of parked fibers that has begun, and samples those that have
 * not had their turn (`fiber_share`), so that the time until `time` is
 * represented. `time` is of CLOCK_MONOTONIC in nanoseconds, and not before the
 * last tick ended. Errors: those of rcore_sampler_tick().
 */
struct rcore_error *rcore_sampler_end_fibers(struct rcore_sampler *sampler, uint64_t time);

/*
 * Adds everything that is known to the profile, before it is written: after
 * that, numbers of its tables may change.
 */
void rcore_sampler_settle(struct rcore_sampler *sampler);

const struct rcore_sampler_statistics *
rcore_sampler_statistics(const struct rcore_sampler *sampler);
int rcore_sampler_pid(const struct rcore_sampler *sampler);
/* Returns the version, such as "3.3.8". */
const char *rcore_sampler_ruby(const struct rcore_sampler *sampler);
/* Returns the title as last read, redacted; NULL: it is not known. */
const char *rcore_sampler_title(const struct rcore_sampler *sampler);

#endif
