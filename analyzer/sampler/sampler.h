/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SAMPLER_H
#define RCORE_SAMPLER_SAMPLER_H

#include "profile/profile.h"
#include "rcore.h"

/*
 * sampler/ reads the stacks of a running Ruby process again and again, and
 * never stops it. Start here.
 *
 * What can be believed of a stack that changes while it is read?
 *
 * A thread that runs short methods pushes or pops a control frame every 20 to
 * 100 ns. One process_vm_readv(2) copies its ranges one after the other, some
 * 300 ns each, for each range needs pages to be pinned. Within a range of one
 * page the copy itself takes less time than a call, so that two neighbouring
 * frames of one copy were nearly always frames of one moment. What is not:
 * ec->cfp, which is elsewhere. If it was read before the frames, it may count
 * frames that have been popped since. They still lie there, as they were when
 * they were left, and look right in every respect: "X called Y", of which X was
 * pushed after Y was popped. One copy alone has such impossible pairs in some
 * per cent of the samples of such a thread.
 *
 * So one system call reads, in this order:
 *
 *	thread         th->ec, th->status, the node in the list of threads ...
 *	frames         from the innermost (a guess of the last tick) to the end of
 *	               the VM stack
 *	EC             vm_stack, vm_stack_size, cfp, thread_ptr
 *	values         the VM stack's start up to the innermost sp (a guess, too)
 *	frames again
 *
 * and a sample counts only if the two copies of the frames [cfp, end) are the
 * same, where cfp is that of the EC. If no word changed in between, all that was
 * read stood there together at the moment when the EC was read, and the
 * environments (flags, method entries, the links of blocks) that the values hold
 * are those of the frames.
 *
 * Which words decide?
 *
 *   - Of all frames but the innermost, every word. While a callee is active, its
 *     caller's pc, sp, iseq, self and ep stand still, and the next call that the caller
 *     makes changes its pc.
 *   - Of the innermost frame, iseq, self and ep. Its pc and sp move while its own code runs,
 *     and it is the same frame all the same; its line is that of the first copy.
 *   - The EC's bounds and thread: a thread that switches to another fiber has another EC, and a fiber that
 *     ends gives its VM stack back.
 *
 * What remains is a thread that changes a word and changes it back: it leaves a
 * frame, and is back in one with the same pc, sp, iseq, self and ep by the time of
 * the second copy. Then what was read is no lie: that call was made just before and
 * just after. The EC is read between the copies, not before and after them, for
 * two reasons. A cfp that is read before a frame is left, and again after it was
 * entered anew, says nothing about the copies in between. And the fewer ranges lie
 * between the two copies, the more samples pass: with the EC three times, 97 of 100
 * samples of methods that take less than a microsecond failed.
 *
 * A thread that waits, for a lock, the GVL or a descriptor, changes nothing.
 * One that the kernel has put aside in the midst of vm_push_frame()
 * (vm_insnhelper.c) is no thread that runs. There, from 3.3 on (and in 3.0) a
 * frame is filled before ec->cfp counts it. Where it is counted first (2.7;
 * code of YJIT in 3.1 and 3.2; traits.frames_pushed_first), the innermost frame
 * may be one that was popped before. rcore_codes_is_filled() says what tells
 * the two apart; one that was popped is left out, and the sample is marked as
 * below.
 *
 * A sample that fails is read again at once, RCORE_SAMPLER_ATTEMPTS times. If
 * none succeeds, the thread calls and returns faster than it can be read. Then
 * the outer frames stand that were the same in both copies and lay outside of
 * the cfp, and a last frame says that there were more: total times of
 * callers stay true, only the time of methods that take less than a microsecond
 * is told by their callers.
 *
 * What is heap is not copied in the same call: iseqs and method entries. They
 * are looked up when they are first seen, by the decoders of ruby/, which read
 * what a tick has copied and else the running process. code.h says how they are
 * verified.
 *
 * Ticks come at random moments around the rate, so that a program with a rhythm
 * of its own is not always seen at the same point. A sample stands for half of
 * the time since the look before and half of that up to the next.
 */

enum {
	RCORE_SAMPLER_ATTEMPTS = 5,
	RCORE_SAMPLER_RATE = 99,
	RCORE_SAMPLER_FIBER_RATE = 10,
	RCORE_SAMPLER_NATIVE_RATE = 10, /* of all, with native frames */
	RCORE_SAMPLER_RATE_MAX = 10000,
};

/* All-zero: the defaults. */
struct rcore_sampler_options {
	double fiber_rate; /* of parked fibers, per second; < 0: not at all */
	/* Which keys of contexts become labels; none: all. */
	const char *const *labels;
	size_t label_count;
	/* "KEY=VALUE", or "KEY": only samples with these labels. */
	const char *const *where;
	size_t where_count;
	enum rcore_redact redact;
	/*
	 * Native frames, too: each tick stops the process for a moment.
	 */
	bool native;
	bool is_single; /* tests only: believe one copy */
	uint64_t begun; /* CLOCK_MONOTONIC of time 0 in the profile */
};

struct rcore_sampler_statistics {
	uint64_t ticks;
	uint64_t samples; /* of threads */
	/* Looks that did not agree, and were made again. */
	uint64_t rejected;
	/* Samples of which only the outer frames are known. */
	uint64_t partial;
	uint64_t lost; /* samples with nothing */
	/* Innermost frames that were just pushed or popped. */
	uint64_t unfilled;
	uint64_t reads;           /* system calls that copied stacks */
	uint64_t parked;          /* samples of parked fibers */
	uint64_t threads, fibers; /* at the moment */
	/* With native frames: ticks that stopped the process, and for how long. */
	uint64_t stopped, stopped_ns, longest_stop_ns;
	uint64_t not_stopped; /* ticks that could not */
	/* Places where native and Ruby frames did not fit together. */
	uint64_t gaps;
};

/* Samples one process. */
struct rcore_sampler;

/*
 * Opens a process that runs Ruby and whose VM has begun. `profile` gets the
 * samples. Errors: as rcore_open_pid() and rcore_examine().
 */
struct rcore_error *rcore_sampler_open(int pid, const struct rcore_options *open,
				       const struct rcore_sampler_options *options,
				       struct rcore_profile *profile,
				       struct rcore_sampler **ret);
void rcore_sampler_close(struct rcore_sampler *sampler); /* NULL-safe */

/*
 * Looks at all threads, and at parked fibers if it is time. Error: OS, the
 * process has ended or has become another program; NO_MEMORY.
 */
struct rcore_error *rcore_sampler_tick(struct rcore_sampler *sampler);

/*
 * Hands over all that is known, before the profile is written: numbers of its
 * tables may change then.
 */
void rcore_sampler_settle(struct rcore_sampler *sampler);

const struct rcore_sampler_statistics *
rcore_sampler_statistics(const struct rcore_sampler *sampler);
int rcore_sampler_pid(const struct rcore_sampler *sampler);
/* "3.3.8". */
const char *rcore_sampler_ruby(const struct rcore_sampler *sampler);

/* The threads of the last tick. */
struct rcore_sampler_thread {
	const char *id;
	int tid;
	enum rcore_sample_state state;
};
bool rcore_sampler_thread(const struct rcore_sampler *sampler, size_t index,
			  struct rcore_sampler_thread *ret);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t rcore_sampler_now(void);

#endif
