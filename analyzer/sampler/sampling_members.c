/* SPDX-License-Identifier: MIT */
#include "sampler/sampling_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/hot.h"
#include "session/live/ruby_processes.h"
#include "target/live/live_tree.h"

enum {
	SECOND = 1000000000,
	MILLISECOND = 1000000,
	TREE_NS = 100 * MILLISECOND, /* how often to look for processes */
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
};

/* How long a process that is said to be Ruby may take to start. */
static const uint64_t boot_limit = 10ull * SECOND;

/*
 * How long one that was Ruby may take to become Ruby again after it executed
 * another program, such as a script that starts Ruby. At first, the new program
 * has no mappings.
 */
static const uint64_t exec_limit = 1ull * SECOND;

/*
 * The longest wait before retrying a process whose problem may be permanent. A
 * try may take some 20 milliseconds.
 */
static const uint64_t seldom = 20ull * SECOND;

struct rcore_member *rcore_member_find(struct rcore_sampling *sampling, int pid)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].pid == pid)
			return &sampling->members.items[i];
	return NULL;
}

void rcore_member_restart(struct rcore_member *member, uint64_t now)
{
	member->found = member->next_try = now;
	member->wait = FIRST_TRY_NS;
	member->is_refused = false;
	member->attempts = 0;
}

struct rcore_error *rcore_member_add(struct rcore_sampling *sampling, int pid, uint64_t now)
{
	uint32_t use = rcore_pid_use_count(sampling, pid);
	if (!use)
		return rcore_error_no_memory();
	struct rcore_member *member = rcore_push(&sampling->members);
	if (!member)
		return rcore_error_no_memory();
	member->pid = pid;
	member->use = use;
	rcore_member_restart(member, now);
	return NULL;
}

static void end_copying(struct rcore_sampling *sampling, struct rcore_member *member)
{
	if (member->is_copied)
		sampling->options->engine->remove(sampling->options->bpf, member->pid);
	member->is_copied = false;
}

void rcore_member_leave(struct rcore_sampling *sampling, struct rcore_member *member)
{
	if (!member->sampler)
		return;
	end_copying(sampling, member);
	rcore_sampler_settle(member->sampler);
	struct rcore_sampler_statistics last = *rcore_sampler_statistics(member->sampler);
	last.threads = last.fibers = 0;
	rcore_statistics_add(&sampling->summary.total, &last);
	rcore_sampler_close(member->sampler);
	member->sampler = NULL;
}

static void note_end(struct rcore_sampling *sampling, const struct rcore_member *member)
{
	const struct rcore_profile_process process = {.pid = (uint32_t)member->pid,
						      .use = member->use};
	if (member->was_sampled && !rcore_process_is_alive(member->pid))
		rcore_profile_end_process(sampling->profile,
					  rcore_profile_process(sampling->profile, &process),
					  rcore_clock_ns() - sampling->sampler_options.begun);
}

/* Whether a problem has another cause than that the process just started. */
static bool is_lasting(const struct rcore_member *member, uint64_t now)
{
	const struct rcore_error *problem = member->problem;
	if (!problem || problem->code == RCORE_ERROR_NOT_RUBY)
		return false;
	return (problem->code != RCORE_ERROR_CORRUPT && problem->code != RCORE_ERROR_FAULT) ||
	       now - member->found >= boot_limit;
}

bool rcore_members_are_hopeless(const struct rcore_sampling *sampling, uint64_t now)
{
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler ||
		    !is_lasting(&sampling->members.items[i], now))
			return false;
	return true;
}

void rcore_member_drop(struct rcore_sampling *sampling, size_t index)
{
	struct rcore_member *member = &sampling->members.items[index];
	const struct rcore_sampling_options *options = sampling->options;
	rcore_member_leave(sampling, member);
	note_end(sampling, member);
	bool is_left_out = !member->was_sampled && is_lasting(member, rcore_clock_ns()) &&
			   ((member->problem->code != RCORE_ERROR_OS &&
			     member->problem->code != RCORE_ERROR_TRACED) ||
			    rcore_process_is_alive(member->pid));
	if (is_left_out && options->left_out)
		options->left_out(member->pid, member->title, member->problem,
				  options->context);
	rcore_error_free(member->problem);
	free(member->title);
	*member = sampling->members.items[--sampling->members.count];
}

/*
 * Whether the reason for an error may soon be gone: a Ruby that starts has no
 * VM yet, a shell may still execute the program, a new process is still running
 * its parent's program.
 */
static bool may_pass(const struct rcore_sampling *sampling, const struct rcore_member *member,
		     const struct rcore_error *err, uint64_t now)
{
	bool is_given = member->pid == sampling->options->pid && !sampling->options->began;
	if (err->code == RCORE_ERROR_NO_MEMORY)
		return false;
	/* If it executes Ruby later, it is found again. */
	if (sampling->options->system && err->code == RCORE_ERROR_NOT_RUBY)
		return false;
	if (member->is_refused && member->pid == sampling->options->pid)
		return false;
	if (!is_given || (member->was_sampled && now - member->found < exec_limit))
		return true;
	return (err->code == RCORE_ERROR_CORRUPT || err->code == RCORE_ERROR_FAULT) &&
	       now - member->found < boot_limit;
}

/*
 * Finds what the program must know about the process. If another one runs the
 * same build of Ruby, the process need not be stopped for that.
 */
static struct rcore_error *find_process(const struct rcore_sampling *sampling,
					struct rcore_member *member)
{
	/* One program has one place; few builds are in several programs. */
	int left = 3;
	member->build = rcore_sampler_build(member->sampler);
	for (size_t i = 0; i < sampling->members.count && member->build && left; i++) {
		const struct rcore_member *other = &sampling->members.items[i];
		if (!other->is_copied || other->build != member->build)
			continue;
		if (rcore_sampler_bpf_process_like(member->sampler, &other->process,
						   &member->process))
			return NULL;
		left--;
	}
	return rcore_sampler_bpf_process(member->sampler, &member->process);
}

/* Adds a process to the BPF program, or updates what the program knows. */
static struct rcore_error *update_bpf(struct rcore_sampling *sampling,
				      struct rcore_member *member)
{
	const struct rcore_sampling_options *options = sampling->options;
	const struct rcore_bpf_process known = member->process;
	uint64_t mappings = rcore_sampler_code_mappings(member->sampler);
	/* The sampler does not know libraries that were loaded meanwhile. */
	struct rcore_error *err =
		member->is_copied ? rcore_sampler_bpf_process(member->sampler, &member->process)
				  : find_process(sampling, member);
	if (!err)
		err = options->engine->add(options->bpf, member->pid, &member->process);
	if (err) {
		member->process = known;
		return err;
	}
	member->mappings = mappings;
	member->attempts = 0;
	return NULL;
}

/*
 * Begins to sample a process with BPF. If that is impossible and the caller
 * accepts it, the process is sampled without BPF. Otherwise returns an error.
 */
static struct rcore_error *begin_copying(struct rcore_sampling *sampling,
					 struct rcore_member *member)
{
	const struct rcore_sampling_options *options = sampling->options;
	struct rcore_error *err = update_bpf(sampling, member);
	if (!err) {
		member->is_copied = true;
		sampling->is_urgent |= rcore_sampler_asks_for_work(member->sampler);
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

/*
 * Looks again after a failure, because that may pass, but not for ever: each
 * attempt stops the process.
 */
static void find_contexts(struct rcore_sampling *sampling, struct rcore_member *member)
{
	uint64_t mappings = rcore_sampler_code_mappings(member->sampler);
	if (mappings == member->mappings)
		return;
	struct rcore_error *err = update_bpf(sampling, member);
	if (err && ++member->attempts >= BPF_ATTEMPTS) {
		member->mappings = mappings;
		member->attempts = 0;
	}
	rcore_error_free(err);
}

void rcore_members_settle(struct rcore_sampling *sampling, bool is_last)
{
	for (size_t i = 0; i < sampling->members.count; i++) {
		struct rcore_sampler *sampler = sampling->members.items[i].sampler;
		/* It fails if the process has ended meanwhile. */
		if (sampler && is_last)
			rcore_error_free(rcore_sampler_end_fibers(sampler, sampling->ended));
		if (sampler)
			rcore_sampler_settle(sampler);
	}
}

void rcore_members_find_contexts(struct rcore_sampling *sampling)
{
	for (size_t i = 0; i < sampling->members.count; i++) {
		struct rcore_member *member = &sampling->members.items[i];
		if (!member->is_copied)
			continue;
		/* Without samples, nobody asks for their contexts. */
		uint64_t samples = rcore_sampler_statistics(member->sampler)->samples;
		bool is_idle = samples == member->samples;
		member->samples = samples;
		if (!is_idle && member->process.params.state.place == RCORE_RUBY_NOWHERE)
			find_contexts(sampling, member);
	}
}

RCORE_HOT bool rcore_member_try(struct rcore_sampling *sampling, struct rcore_member *member,
				uint64_t now)
{
	if (member->sampler || member->is_given_up || member->is_refused ||
	    now < member->next_try)
		return false;
	sampling->sampler_options.pid_use = member->use;
	struct rcore_error *err =
		rcore_sampler_open(member->pid, &sampling->open, &sampling->sampler_options,
				   sampling->profile, &member->sampler);
	if (!err && sampling->options->bpf)
		err = begin_copying(sampling, member);
	if (err) {
		end_copying(sampling, member);
		rcore_sampler_close(member->sampler);
		member->sampler = NULL;
	}
	/* An earlier problem says more than that the process has ended. */
	bool says_less = member->problem || sampling->options->system;
	if (err && says_less && !rcore_process_is_alive(member->pid)) {
		rcore_error_free(err);
		return true;
	}
	rcore_error_free(member->problem);
	member->problem = err;
	if (!err) {
		sampling->sampler_options.begun = rcore_sampler_begun(member->sampler);
		member->was_sampled = true;
		rcore_pid_use_sampled(sampling, member);
		return true;
	}
	if (!member->title)
		member->title = rcore_process_title(member->pid);
	member->next_try = rcore_clock_ns() + member->wait;
	if (member->wait < (is_lasting(member, now) ? seldom : LAST_TRY_NS))
		member->wait = member->wait * 3 / 2;
	member->is_given_up = !may_pass(sampling, member, err, now);
	return true;
}

/* Descendants of a process that has ended stay known. */
static struct rcore_error *list_children(const struct rcore_sampling *sampling, int **ret,
					 size_t *ret_count)
{
	size_t count = sampling->members.count;
	int *roots = rcore_calloc(count, sizeof(*roots));
	if (!roots)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++)
		roots[i] = sampling->members.items[i].pid;
	struct rcore_error *err = rcore_process_trees(roots, count, ret, ret_count);
	free(roots);
	return err;
}

static struct rcore_error *add_new(struct rcore_sampling *sampling, const int *pids,
				   size_t count, uint64_t now)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < count && !err; i++)
		if (pids[i] != getpid() && !rcore_member_find(sampling, pids[i]))
			err = rcore_member_add(sampling, pids[i], now);
	return err;
}

static struct rcore_error *find_children(struct rcore_sampling *sampling, uint64_t now)
{
	int *pids = NULL;
	size_t count = 0;
	struct rcore_error *err = list_children(sampling, &pids, &count);
	if (!err)
		err = add_new(sampling, pids, count, now);
	free(pids);
	return err;
}

static struct rcore_error *find_ruby(struct rcore_sampling *sampling, uint64_t now)
{
	int *pids = NULL;
	const int *found = NULL;
	size_t count = 0, found_count = 0;
	if (!sampling->host)
		sampling->host = rcore_host_new(&rcore_host_probe);
	if (!sampling->host)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_process_ids(&pids, &count);
	if (!err)
		err = rcore_host_look(sampling->host, pids, count, now, &found, &found_count);
	if (!err)
		err = add_new(sampling, found, found_count, now);
	free(pids);
	return err;
}

RCORE_HOT struct rcore_error *rcore_members_find(struct rcore_sampling *sampling, uint64_t now)
{
	const struct rcore_sampling_options *options = sampling->options;
	if ((!options->children && !options->system) || now - sampling->last_tree < TREE_NS)
		return NULL;
	sampling->last_tree = now;
	struct rcore_error *err =
		options->system ? find_ruby(sampling, now) : find_children(sampling, now);
	/* If rcore has too many files open, the next search may succeed. */
	if (err && err->code == RCORE_ERROR_OS && sampling->members.count) {
		rcore_error_free(err);
		err = NULL;
	}
	return err;
}
