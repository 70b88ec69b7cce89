/* SPDX-License-Identifier: MIT */
#include "sampler/sampling_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h> /* since glibc 2.35 */
#endif

#include "base/clock.h"
#include "base/grow.h"
#include "base/hot.h"
#include "base/text.h"
#include "session/layout/trial.h"

enum {
	SECOND = 1000000000,
	MILLISECOND = 1000000,
	/* The time between two reads of the BPF program's records. */
	RECORDS_NS = 20 * MILLISECOND,
	/*
	 * How long one round of looking up waits may take, although each looks
	 * at one process at least; and for how many times that time rcore then
	 * looks up none.
	 */
	WAITS_NS = 5 * MILLISECOND,
	WAITS_REST = 4,
	/* How long one tick may try processes that are not sampled yet. */
	TRIES_NS = 100 * MILLISECOND,
};

struct rcore_sampler *rcore_sampling_at(struct rcore_sampling *sampling, size_t index)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler && !index--)
			return sampling->members.items[i].sampler;
	return NULL;
}

/* splitmix64 */
static RCORE_HOT uint64_t draw(struct rcore_sampling *sampling)
{
	uint64_t z = sampling->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Returns between half a period and one and a half. */
static RCORE_HOT uint64_t next_gap(struct rcore_sampling *sampling)
{
	const struct rcore_sampling_options *options = sampling->options;
	double share = (double)(draw(sampling) >> 11) / (double)(1ull << 53);
	bool is_slower = options->sampler.native && options->stopped_rate > 0 &&
			 options->stopped_rate < options->rate;
	return (uint64_t)((0.5 + share) * SECOND /
			  (is_slower ? options->stopped_rate : options->rate));
}

static RCORE_HOT struct rcore_error *tick_member(const struct rcore_sampling *sampling,
						 struct rcore_member *member)
{
	if (!member->sampler)
		return NULL;
	if (!member->is_copied)
		return rcore_sampler_tick(member->sampler);
	return sampling->options->sampler.off_cpu
		       ? rcore_sampler_begin_switches(member->sampler)
		       : rcore_sampler_begin_records(member->sampler);
}

/* Whether it was stopped, or its time is over. */
static RCORE_HOT bool has_ended(const struct rcore_sampling *sampling, uint64_t now)
{
	const struct rcore_sampling_options *options = sampling->options;
	return sampling->is_stopped || rcore_sampling_is_stopped(options) ||
	       (options->seconds > 0 && sampling->begun &&
		(double)(now - sampling->begun) / SECOND >= options->seconds);
}

static struct rcore_error *report(struct rcore_sampling *sampling, bool is_last)
{
	const struct rcore_sampling_options *options = sampling->options;
	rcore_members_settle(sampling, is_last);
	sampling->reports++;
	return options->each_second ? options->each_second(sampling, is_last, options->context)
				    : NULL;
}

/*
 * Returns how many nanoseconds of a tick are for parked fibers; the rest is for
 * threads. A half of that is for all processes, and the other one for each of
 * them in turn, so that none has to wait until the others leave something.
 */
static RCORE_HOT uint64_t time_for_fibers(const struct rcore_sampling *sampling)
{
	double rate = sampling->options->rate;
	return rate > 0 ? (uint64_t)(SECOND / rate / 2) : 0;
}

/*
 * Ticks all samplers. Removes processes that have ended, and tries again those
 * that became another program.
 */
static RCORE_HOT struct rcore_error *tick(struct rcore_sampling *sampling, uint64_t now,
					  struct rcore_error **ret_last)
{
	uint64_t begun = rcore_clock_ns();
	bool has_tried = false;
	uint64_t for_turn = time_for_fibers(sampling) / 2, for_all = for_turn;
	for (size_t i = sampling->members.count; i-- > 0;) {
		struct rcore_member *member = &sampling->members.items[i];
		/*
		 * A try takes long, and what others have recorded may refer to
		 * code that is gone soon.
		 */
		struct rcore_error *err = has_tried ? rcore_records_add(sampling) : NULL;
		if (err)
			return err;
		uint64_t time = rcore_clock_ns();
		has_tried = time - begun < TRIES_NS && !has_ended(sampling, time) &&
			    rcore_member_try(sampling, member, now);
		if (!member->sampler && !member->is_given_up &&
		    (rcore_process_is_alive(member->pid) || member->found == now))
			continue;
		sampling->fiber_time = for_all;
		if (i == sampling->ticks % sampling->members.count)
			sampling->fiber_time += for_turn;
		err = tick_member(sampling, member);
		if (sampling->fiber_time < for_all)
			for_all = sampling->fiber_time;
		if (member->sampler && !err)
			continue;
		if (err && err->code == RCORE_ERROR_NO_MEMORY)
			return err;
		rcore_error_free(err);
		sampling->summary.has_executed |= member->sampler &&
						  member->pid == sampling->options->pid &&
						  rcore_sampler_has_executed(member->sampler);
		/* Adds what it did until it ended. */
		err = member->is_copied ? rcore_records_add_last(sampling, now) : NULL;
		/* A report only describes processes that are still sampled. */
		if (!err && member->sampler && !sampling->reports)
			err = report(sampling, false);
		if (err)
			return err;
		rcore_member_leave(sampling, member);
		if (!member->is_given_up && rcore_process_is_alive(member->pid)) {
			rcore_member_restart(member, now);
			continue;
		}
		bool is_root = member->pid == sampling->options->pid;
		if (!sampling->options->system && member->problem && (is_root || !*ret_last)) {
			rcore_error_free(*ret_last);
			*ret_last = member->problem;
			member->problem = NULL;
			sampling->is_last_of_root = is_root;
		}
		rcore_member_drop(sampling, i);
	}
	return NULL;
}

/*
 * Looks up what threads wait for, with --off-cpu. The next round begins with
 * the process after the last one of this round.
 */
static RCORE_HOT void look_up_waits(struct rcore_sampling *sampling)
{
	uint64_t begun = rcore_clock_ns(), now = begun;
	if (!sampling->options->sampler.off_cpu || begun < sampling->next_waits)
		return;
	for (size_t left = sampling->members.count; left && now - begun < WAITS_NS; left--) {
		size_t index = sampling->waits_turn++ % sampling->members.count;
		if (sampling->members.items[index].is_copied)
			rcore_sampler_look_up_waits(sampling->members.items[index].sampler);
		now = rcore_clock_ns();
	}
	sampling->next_waits = now + (now - begun) * WAITS_REST;
}

static RCORE_HOT bool is_all_copied(const struct rcore_sampling *sampling)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler && !sampling->members.items[i].is_copied)
			return false;
	return true;
}

/* Returns the time from one tick to the next. */
static RCORE_HOT uint64_t gap_of(struct rcore_sampling *sampling, bool is_sampling)
{
	if (!is_sampling)
		return 5 * MILLISECOND;
	return is_all_copied(sampling) ? RECORDS_NS : next_gap(sampling);
}

static RCORE_HOT bool has_sampler(const struct rcore_sampling *sampling)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler)
			return true;
	return false;
}

static RCORE_HOT void sleep_until(uint64_t when)
{
	const struct timespec until = {.tv_sec = (time_t)(when / SECOND),
				       .tv_nsec = (long)(when % SECOND)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Sleeps. If records must be added soon, adds them as they come. */
static RCORE_HOT struct rcore_error *rest(struct rcore_sampling *sampling, uint64_t until)
{
	const struct rcore_sampling_options *options = sampling->options;
	struct rcore_error *err = NULL;
	if (!options->bpf || !sampling->is_urgent) {
		if (!options->sleep)
			sleep_until(until);
		else if (!options->sleep(until, options->context))
			sampling->is_stopped = true;
		return NULL;
	}
	while (!err && !rcore_sampling_is_stopped(options) && rcore_clock_ns() < until) {
		options->engine->wait(options->bpf, until);
		err = rcore_records_add(sampling);
	}
	return err;
}

/*
 * glibc registers restartable sequences for each thread (rseq(2)), for
 * sched_getcpu(). Then the kernel writes to the thread's memory each time it
 * wakes the thread, which is a twentieth of the cost of a sample at 99 Hz.
 * Nothing here needs that.
 */
static void end_rseq(void)
{
#ifdef RSEQ_SIG
	if (__rseq_size)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset,
			sizeof(struct rseq), RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
#endif
}

RCORE_HOT bool rcore_sampling_is_report_due(const struct rcore_sampling *sampling, uint64_t now)
{
	return sampling->begun && now > sampling->last_second &&
	       now - sampling->last_second >= SECOND;
}

/* Returns whether there is, or may soon be, something to sample. */
static RCORE_HOT bool has_work(const struct rcore_sampling *sampling, uint64_t now)
{
	if (!sampling->options->system)
		return sampling->members.count;
	return sampling->summary.processes || !rcore_members_are_hopeless(sampling, now);
}

/* `last` is why a process can no longer be sampled; NULL: unknown. */
static void note_end(struct rcore_sampling *sampling, uint64_t now,
		     const struct rcore_error *last)
{
	const struct rcore_sampling_options *options = sampling->options;
	struct rcore_sampling_summary *summary = &sampling->summary;
	summary->has_ended =
		!options->system && !sampling->members.count && !has_ended(sampling, now);
	summary->is_alive = summary->has_ended && rcore_process_is_alive(options->pid);
	if (!summary->is_alive || !last || !sampling->is_last_of_root)
		return;
	summary->is_foreign = last->code == RCORE_ERROR_NOT_RUBY;
	rcore_format(summary->why, sizeof(summary->why), "%s", last->message);
}

static RCORE_HOT struct rcore_error *run(struct rcore_sampling *sampling)
{
	struct rcore_error *err = NULL, *last = NULL;
	uint64_t now = rcore_clock_ns(), next = now;
	while (!err && has_work(sampling, now) && !has_ended(sampling, now)) {
		err = rcore_members_find(sampling, now);
		if (!err)
			err = rcore_records_add(sampling);
		if (!err)
			err = tick(sampling, now, &last);
		if (err)
			break;
		look_up_waits(sampling);
		bool is_sampling = has_sampler(sampling);
		/* The BPF program samples a process once it was added. */
		if (is_sampling && !sampling->begun)
			sampling->begun = sampling->last_second =
				sampling->options->bpf ? rcore_clock_ns()
						       : sampling->sampler_options.begun;
		if (is_sampling)
			sampling->ticks++;
		if (rcore_sampling_is_report_due(sampling, now)) {
			sampling->last_second = now;
			rcore_members_find_contexts(sampling);
			err = report(sampling, false);
		}
		/* If rcore was late, it does not catch up. */
		now = rcore_clock_ns();
		uint64_t gap = gap_of(sampling, is_sampling);
		next = next + gap > now ? next + gap : now;
		if (!err)
			err = rest(sampling, next);
		now = rcore_clock_ns();
	}
	/* A tick that failed began before. */
	sampling->ended = err ? rcore_clock_ns() : now;
	note_end(sampling, now, last);
	if (!err)
		err = rcore_records_add_last(sampling, now);
	struct rcore_error *failure = report(sampling, true);
	if (!err)
		err = failure;
	else
		rcore_error_free(failure);
	if (!err && !sampling->summary.processes &&
	    !rcore_sampling_is_stopped(sampling->options)) {
		err = rcore_sampling_why_nothing(sampling, last);
		last = NULL;
	}
	rcore_error_free(last);
	return err;
}

static struct rcore_error *begin(struct rcore_sampling *sampling)
{
	uint64_t now = rcore_clock_ns();
	if (!sampling->options->system)
		return rcore_member_add(sampling, sampling->options->pid, now);
	struct rcore_error *err = rcore_members_find(sampling, now);
	if (!err && !sampling->members.count)
		err = rcore_error_create(RCORE_ERROR_NOT_RUBY,
					 "no Ruby process found; `rcore ps` lists those that "
					 "rcore can see");
	return err;
}

struct rcore_error *rcore_sampling_run(const struct rcore_sampling_options *options,
				       struct rcore_profile *profile)
{
	struct rcore_sampling sampling = {
		.options = options, .profile = profile, .cpu_begun = rcore_sampling_cpu()};
	sampling.sampler_options = options->sampler;
	sampling.sampler_options.kept = &sampling.kept;
	if (options->rate > 0)
		sampling.sampler_options.fiber_time = &sampling.fiber_time;
	sampling.open = *options->open;
	struct rcore_choice *several =
		sampling.open.choice ? NULL : rcore_choice_open_several();
	if (several)
		sampling.open.choice = several;
	if (getrandom(&sampling.random, sizeof(sampling.random), GRND_NONBLOCK) < 0)
		sampling.random = rcore_clock_ns();
	prctl(PR_SET_TIMERSLACK, 1000ul);
	end_rseq();
	rcore_sampling_shorten_slice();
	struct rcore_error *err = begin(&sampling);
	if (!err)
		err = run(&sampling);
	while (sampling.members.count)
		rcore_member_drop(&sampling, sampling.members.count - 1);
	free(sampling.members.items);
	rcore_choice_close(several);
	free(sampling.uses.items);
	rcore_host_free(sampling.host);
	return err;
}
