/* SPDX-License-Identifier: MIT */
#include "sampler/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "target/live/live_tree.h"

enum {
	SECOND = 1000000000,
	MILLISECOND = 1000000,
	TREE_NS = 100 * MILLISECOND, /* how often to look for children */
	/*
	 * How long to wait before a process that is not Ruby yet is tried
	 * again.
	 */
	FIRST_TRY_NS = 5 * MILLISECOND,
	LAST_TRY_NS = SECOND,
	/*
	 * Attempts to find what the BPF program needs. Each one stops the
	 * process.
	 */
	BPF_ATTEMPTS = 6,
	/* The time between two reads of the BPF program's records. */
	RECORDS_NS = 20 * MILLISECOND,
	/*
	 * How long one read may take. It would never end if records came faster
	 * than rcore adds them.
	 */
	READ_NS = 100 * MILLISECOND,
};

/*
 * How long a read of what was recorded until a process, or the recording, ended
 * may take. What is left then counts as lost. The ring buffer has no more than
 * rcore adds in two seconds on a processor.
 */
static const uint64_t last_read_limit = 10ull * SECOND;

/* How long a process that is said to be Ruby may take to start. */
static const uint64_t boot_limit = 10ull * SECOND;

/* A process that is sampled, or may be sampled later. */
struct member {
	int pid;
	struct rcore_sampler *sampler; /* NULL: not yet, or not Ruby */
	uint64_t found, next_try, wait;
	struct rcore_error *problem; /* why it is not sampled */
	bool is_seen, is_given_up;
	bool is_copied;  /* the BPF program copies its stacks */
	bool is_refused; /* the BPF program cannot copy its stacks */
	int attempts;    /* to find what the program needs */
	/* What the program knows about it. */
	struct rcore_bpf_process process;
	uint64_t mappings; /* rcore_sampler_code_mappings() at that time */
};

/* One read of the BPF program's records. */
struct reading {
	uint64_t begun, deadline;
	uint64_t reached; /* records up to this time were read */
	bool is_last;     /* reads all records up to `begun` */
};

struct rcore_sampling {
	const struct rcore_sampling_options *options;
	struct rcore_profile *profile;
	struct {
		struct member *items;
		size_t count, capacity;
	} members;
	struct rcore_sampling_summary summary;
	struct rcore_sampler_options sampler_options;
	uint64_t begun, ticks, last_tree, last_second, random;
	struct rcore_error *failure; /* why a record could not be added */
	struct reading reading;
	uint64_t late; /* records left at the deadline of the last read */
	uint64_t kept; /* rcore_sampler_options.kept */
	double cpu_begun;
};

static double own_cpu(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static void add_up(struct rcore_sampler_statistics *total,
		   const struct rcore_sampler_statistics *one)
{
	total->samples += one->samples;
	total->rejected += one->rejected;
	total->partial += one->partial;
	total->lost += one->lost;
	total->unfilled += one->unfilled;
	total->reads += one->reads;
	total->parked += one->parked;
	total->stopped += one->stopped;
	total->stopped_ns += one->stopped_ns;
	if (one->longest_stop_ns > total->longest_stop_ns)
		total->longest_stop_ns = one->longest_stop_ns;
	total->not_stopped += one->not_stopped;
	total->gaps += one->gaps;
	total->unwound += one->unwound;
	total->not_unwound += one->not_unwound;
	total->foreign += one->foreign;
	total->threads += one->threads;
	total->fibers += one->fibers;
}

void rcore_sampling_summary(const struct rcore_sampling *sampling,
			    struct rcore_sampling_summary *ret)
{
	*ret = sampling->summary;
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler)
			add_up(&ret->total,
			       rcore_sampler_statistics(sampling->members.items[i].sampler));
	uint64_t now = rcore_clock_ns();
	ret->total.ticks = sampling->ticks;
	ret->seconds = sampling->begun ? (double)(now - sampling->begun) / SECOND : 0;
	ret->achieved = ret->seconds > 0 ? (double)sampling->ticks / ret->seconds : 0;
	ret->cpu_seconds = own_cpu() - sampling->cpu_begun;
	if (!ret->copied)
		return;
	struct rcore_bpf_counts counts;
	sampling->options->engine->counts(sampling->options->bpf, &counts);
	ret->total.overruns = counts.overruns + sampling->late;
	ret->total.unread = counts.unread;
	double taken = (double)ret->total.samples;
	ret->achieved = taken > 0 ? sampling->options->rate * taken /
					    (taken + (double)ret->total.overruns)
				  : 0;
}

struct rcore_sampler *rcore_sampling_at(struct rcore_sampling *sampling, size_t index)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler && !index--)
			return sampling->members.items[i].sampler;
	return NULL;
}

/* splitmix64 */
static uint64_t draw(struct rcore_sampling *sampling)
{
	uint64_t z = sampling->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Returns between half a period and one and a half. */
static uint64_t next_gap(struct rcore_sampling *sampling)
{
	const struct rcore_sampling_options *options = sampling->options;
	double share = (double)(draw(sampling) >> 11) / (double)(1ull << 53);
	bool is_slower = options->sampler.native && options->stopped_rate > 0 &&
			 options->stopped_rate < options->rate;
	return (uint64_t)((0.5 + share) * SECOND /
			  (is_slower ? options->stopped_rate : options->rate));
}

static struct member *find(struct rcore_sampling *sampling, int pid)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].pid == pid)
			return &sampling->members.items[i];
	return NULL;
}

static struct rcore_error *add(struct rcore_sampling *sampling, int pid, uint64_t now)
{
	struct member *member = rcore_push(&sampling->members);
	if (!member)
		return rcore_error_no_memory();
	*member = (struct member){
		.pid = pid, .found = now, .next_try = now, .wait = FIRST_TRY_NS};
	return NULL;
}

static void end_copying(struct rcore_sampling *sampling, struct member *member)
{
	if (member->is_copied)
		sampling->options->engine->remove(sampling->options->bpf, member->pid);
	member->is_copied = false;
}

static void leave(struct rcore_sampling *sampling, struct member *member)
{
	if (!member->sampler)
		return;
	end_copying(sampling, member);
	rcore_sampler_settle(member->sampler);
	struct rcore_sampler_statistics last = *rcore_sampler_statistics(member->sampler);
	last.threads = last.fibers = 0;
	add_up(&sampling->summary.total, &last);
	rcore_sampler_close(member->sampler);
	member->sampler = NULL;
}

static void drop(struct rcore_sampling *sampling, size_t index)
{
	struct member *member = &sampling->members.items[index];
	leave(sampling, member);
	rcore_error_free(member->problem);
	*member = sampling->members.items[--sampling->members.count];
}

static bool is_alive(int pid)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X';
}

/*
 * Whether the reason for an error may soon be gone: a Ruby that starts has no
 * VM yet, a shell may still execute the program, a new process is still running
 * its parent's program.
 */
static bool may_pass(const struct rcore_sampling *sampling, const struct member *member,
		     const struct rcore_error *err, uint64_t now)
{
	bool is_given = member->pid == sampling->options->pid && !sampling->options->is_new;
	if (err->code == RCORE_ERROR_NO_MEMORY)
		return false;
	if (member->is_refused && member->pid == sampling->options->pid)
		return false;
	if (!is_given)
		return true;
	return (err->code == RCORE_ERROR_CORRUPT || err->code == RCORE_ERROR_FAULT) &&
	       now - member->found < boot_limit;
}

/* Adds a process to the BPF program, or updates what the program knows. */
static struct rcore_error *update_bpf(struct rcore_sampling *sampling, struct member *member)
{
	const struct rcore_sampling_options *options = sampling->options;
	const struct rcore_bpf_process known = member->process;
	member->mappings = rcore_sampler_code_mappings(member->sampler);
	struct rcore_error *err = rcore_sampler_bpf_process(member->sampler, &member->process);
	if (!err)
		err = options->engine->add(options->bpf, member->pid, &member->process);
	if (err)
		member->process = known;
	return err;
}

/*
 * Begins to sample a process with BPF. If that is impossible and the caller
 * accepts it, the process is sampled without BPF. Otherwise returns an error.
 */
static struct rcore_error *begin_copying(struct rcore_sampling *sampling, struct member *member)
{
	const struct rcore_sampling_options *options = sampling->options;
	struct rcore_error *err = update_bpf(sampling, member);
	if (!err) {
		member->is_copied = true;
		sampling->summary.copied++;
		sampling->summary.lacks_work |= rcore_sampler_asks_for_work(member->sampler);
		return options->sampler.off_cpu ? rcore_sampler_tick(member->sampler) : NULL;
	}
	if (err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	struct rcore_error *ended = rcore_sampler_check(member->sampler);
	if (ended) {
		rcore_error_free(err);
		return ended;
	}
	if (rcore_sampler_bpf_may_pass(err) && ++member->attempts < BPF_ATTEMPTS)
		return err;
	member->is_refused = true;
	if (!options->refused)
		return err;
	options->refused(member->pid, err, options->context);
	rcore_error_free(err);
	return NULL;
}

/* Looks for the variable of the gem ruby-profiler if a library was loaded. */
static void find_context_variables(struct rcore_sampling *sampling)
{
	for (size_t i = 0; i < sampling->members.count; i++) {
		struct member *member = &sampling->members.items[i];
		if (member->is_copied &&
		    member->process.params.state.place == RCORE_RUBY_NOWHERE &&
		    rcore_sampler_code_mappings(member->sampler) != member->mappings)
			rcore_error_free(update_bpf(sampling, member));
	}
}

static void try(struct rcore_sampling *sampling, struct member *member, uint64_t now)
{
	if (member->sampler || member->is_given_up || member->is_refused ||
	    now < member->next_try)
		return;
	if (!sampling->sampler_options.begun)
		sampling->sampler_options.begun = now;
	struct rcore_error *err = rcore_sampler_open(member->pid, sampling->options->open,
						     &sampling->sampler_options,
						     sampling->profile, &member->sampler);
	if (!err && sampling->options->bpf)
		err = begin_copying(sampling, member);
	if (err) {
		end_copying(sampling, member);
		rcore_sampler_close(member->sampler);
		member->sampler = NULL;
	}
	rcore_error_free(member->problem);
	member->problem = err;
	if (!err) {
		sampling->summary.processes++;
		return;
	}
	member->next_try = rcore_clock_ns() + member->wait;
	if (member->wait < LAST_TRY_NS)
		member->wait = member->wait * 3 / 2;
	member->is_given_up = !may_pass(sampling, member, err, now);
}

static struct rcore_error *find_children(struct rcore_sampling *sampling, uint64_t now)
{
	int *pids = NULL;
	size_t count = 0;
	struct rcore_error *err = NULL;
	if (!sampling->options->children || now - sampling->last_tree < TREE_NS)
		return NULL;
	sampling->last_tree = now;
	/* Descendants of a process that has ended stay known. */
	size_t known = sampling->members.count;
	for (size_t i = 0; !err && i < known; i++) {
		rcore_error_free(
			rcore_process_tree(sampling->members.items[i].pid, &pids, &count));
		for (size_t j = 0; !err && j < count; j++)
			if (!find(sampling, pids[j]))
				err = add(sampling, pids[j], now);
		free(pids);
		pids = NULL;
		count = 0;
	}
	return err;
}

static void decode(struct rcore_sampling *sampling, struct member *member,
		   const struct rcore_bpf_record *record, size_t size)
{
	uint64_t cpu = (uint64_t)(SECOND / sampling->options->rate);
	if (record->kind == RCORE_BPF_SAMPLE)
		sampling->failure = rcore_sampler_add_record(member->sampler, record, cpu);
	else if (record->kind == RCORE_BPF_CALLED)
		sampling->failure = rcore_sampler_add_call(member->sampler, record);
	else
		sampling->failure = rcore_sampler_add_switch(member->sampler, record, size);
}

static bool is_stopped(const struct rcore_sampling_options *options)
{
	return options->stop && *options->stop;
}

static bool add_record(const struct rcore_bpf_record *record, size_t size, void *context)
{
	struct rcore_sampling *sampling = context;
	struct reading *reading = &sampling->reading;
	struct member *member = find(sampling, (int)record->pid);
	bool is_late = rcore_clock_ns() >= reading->deadline;
	/* A record that is passed to this function is consumed: add it, too. */
	bool is_beyond = record->time > reading->begun;
	if (member && member->sampler && member->is_copied) {
		if (reading->is_last && is_late)
			sampling->late++;
		else
			decode(sampling, member, record, size);
	}
	if (reading->is_last)
		return !is_beyond && !sampling->failure;
	if (!is_late && !is_stopped(sampling->options))
		return !sampling->failure;
	reading->reached = record->time;
	return false;
}

static struct rcore_error *read_records(struct rcore_sampling *sampling)
{
	const struct rcore_sampling_options *options = sampling->options;
	uint64_t reached = sampling->reading.begun;
	if (options->bpf)
		options->engine->consume(options->bpf, add_record, sampling);
	if (sampling->reading.reached && sampling->reading.reached < reached)
		reached = sampling->reading.reached;
	for (size_t i = 0; options->bpf && i < sampling->members.count; i++)
		if (sampling->members.items[i].is_copied)
			rcore_sampler_end_records(sampling->members.items[i].sampler, reached);
	struct rcore_error *err = sampling->failure;
	sampling->failure = NULL;
	return err;
}

/* Adds the records that the BPF program has written since the last call. */
static struct rcore_error *add_records(struct rcore_sampling *sampling)
{
	uint64_t now = rcore_clock_ns();
	sampling->reading = (struct reading){.begun = now, .deadline = now + READ_NS};
	return read_records(sampling);
}

/*
 * Adds all records that the BPF program has written up to now; after
 * `deadline`, counts them as lost.
 */
static struct rcore_error *add_last_records(struct rcore_sampling *sampling, uint64_t deadline)
{
	sampling->reading = (struct reading){
		.begun = rcore_clock_ns(), .deadline = deadline, .is_last = true};
	return read_records(sampling);
}

static struct rcore_error *tick_member(const struct rcore_sampling *sampling,
				       struct member *member)
{
	if (!member->sampler)
		return NULL;
	if (!member->is_copied)
		return rcore_sampler_tick(member->sampler);
	return sampling->options->sampler.off_cpu
		       ? rcore_sampler_begin_switches(member->sampler)
		       : rcore_sampler_begin_records(member->sampler);
}

/*
 * Ticks all samplers. Removes processes that have ended, and tries again those
 * that became another program.
 */
static struct rcore_error *tick(struct rcore_sampling *sampling, uint64_t now,
				struct rcore_error **ret_last)
{
	for (size_t i = sampling->members.count; i-- > 0;) {
		struct member *member = &sampling->members.items[i];
		try(sampling, member, now);
		if (!member->sampler && !member->is_given_up &&
		    (is_alive(member->pid) || member->found == now))
			continue;
		struct rcore_error *err = tick_member(sampling, member);
		if (member->sampler && !err)
			continue;
		if (err && err->code == RCORE_ERROR_NO_MEMORY)
			return err;
		rcore_error_free(err);
		/* What it did until it ended. */
		err = member->is_copied ? add_last_records(sampling, now + last_read_limit)
					: NULL;
		if (err)
			return err;
		leave(sampling, member);
		if (!member->is_given_up && is_alive(member->pid)) {
			member->found = member->next_try = now;
			member->wait = FIRST_TRY_NS;
			member->is_refused = false;
			member->attempts = 0;
			continue;
		}
		rcore_error_free(*ret_last);
		*ret_last = member->problem;
		member->problem = NULL;
		drop(sampling, i);
	}
	return NULL;
}

static bool is_all_copied(const struct rcore_sampling *sampling)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler && !sampling->members.items[i].is_copied)
			return false;
	return true;
}

/* Returns the time from one tick to the next. */
static uint64_t gap_of(struct rcore_sampling *sampling, bool is_sampling)
{
	if (!is_sampling)
		return 5 * MILLISECOND;
	return is_all_copied(sampling) ? RECORDS_NS : next_gap(sampling);
}

static bool has_sampler(const struct rcore_sampling *sampling)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler)
			return true;
	return false;
}

static void sleep_until(uint64_t when)
{
	const struct timespec until = {.tv_sec = (time_t)(when / SECOND),
				       .tv_nsec = (long)(when % SECOND)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static bool is_over(const struct rcore_sampling *sampling, uint64_t now)
{
	const struct rcore_sampling_options *options = sampling->options;
	if (is_stopped(options))
		return true;
	if (options->each_tick && !options->each_tick(options->context))
		return true;
	return options->seconds > 0 && sampling->begun &&
	       (double)(now - sampling->begun) / SECOND >= options->seconds;
}

static struct rcore_error *report(struct rcore_sampling *sampling, bool is_last)
{
	const struct rcore_sampling_options *options = sampling->options;
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler)
			rcore_sampler_settle(sampling->members.items[i].sampler);
	return options->each_second ? options->each_second(sampling, is_last, options->context)
				    : NULL;
}

static struct rcore_error *run(struct rcore_sampling *sampling)
{
	struct rcore_error *err = NULL, *last = NULL;
	uint64_t now = rcore_clock_ns(), next = now;
	while (!err && sampling->members.count && !is_over(sampling, now)) {
		err = find_children(sampling, now);
		if (!err)
			err = add_records(sampling);
		if (!err)
			err = tick(sampling, now, &last);
		if (err)
			break;
		bool is_sampling = has_sampler(sampling);
		/* The BPF program samples a process once it was added. */
		if (is_sampling && !sampling->begun)
			sampling->begun = sampling->last_second =
				sampling->options->bpf ? rcore_clock_ns() : now;
		if (is_sampling)
			sampling->ticks++;
		if (sampling->begun && now - sampling->last_second >= SECOND) {
			sampling->last_second = now;
			find_context_variables(sampling);
			err = report(sampling, false);
		}
		/* If rcore was late, it does not catch up. */
		now = rcore_clock_ns();
		uint64_t gap = gap_of(sampling, is_sampling);
		next = next + gap > now ? next + gap : now;
		sleep_until(next);
		now = rcore_clock_ns();
	}
	if (!err)
		err = add_last_records(sampling, now + last_read_limit);
	struct rcore_error *failure = report(sampling, true);
	if (!err)
		err = failure;
	else
		rcore_error_free(failure);
	if (!err && !sampling->summary.processes && !is_stopped(sampling->options)) {
		err = last;
		last = NULL;
		if (!err && sampling->members.count) {
			err = sampling->members.items[0].problem;
			sampling->members.items[0].problem = NULL;
		}
	}
	rcore_error_free(last);
	return err;
}

struct rcore_error *rcore_sampling_run(const struct rcore_sampling_options *options,
				       struct rcore_profile *profile)
{
	struct rcore_sampling sampling = {
		.options = options, .profile = profile, .cpu_begun = own_cpu()};
	sampling.sampler_options = options->sampler;
	sampling.sampler_options.kept = &sampling.kept;
	if (getrandom(&sampling.random, sizeof(sampling.random), GRND_NONBLOCK) < 0)
		sampling.random = rcore_clock_ns();
	prctl(PR_SET_TIMERSLACK, 1000ul);
	struct rcore_error *err = add(&sampling, options->pid, rcore_clock_ns());
	if (!err)
		err = run(&sampling);
	while (sampling.members.count)
		drop(&sampling, sampling.members.count - 1);
	free(sampling.members.items);
	return err;
}
