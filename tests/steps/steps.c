/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"

#include "analysis.h"
#include "checks.h"
#include "filling.h"
#include "findings.h"
#include "lines.h"
#include "neighbours.h"
#include "states.h"
#include "tracee.h"

/*
 * Moves a Ruby program by single instructions, analyzes each state in which it
 * was not before, and compares the result with what must be true of any state,
 * with the state before it, and with what the program recorded itself.
 */
struct steps {
	char **command;
	const char *recorded, *program;
	uint64_t seed, count, from, share, rounds, fresh;
	uint64_t made; /* instructions, since the first analysis */
	uint64_t at;   /* prints the states up to here; 0: none */
	bool verbose;

	struct tracee tracee;
	struct analysis analysis;
	struct states seen;
	struct lines lines;
	struct findings findings;
	struct rcore_snapshot *last; /* of the step before; NULL: not analyzed */
	char *layout;
	struct filling filling;
	uint64_t random, analyses, slowest_ns, spent_ns;
	struct {
		struct {
			int tid;
			uint64_t thread; /* rb_thread_t */
		} * items;
		size_t count, capacity;
	} threads;
};

/* This many states are in one window, which is analyzed or not. */
enum { WINDOW = 64 };

/* A thread moves for this many steps before another may. */
enum { TURN = 2000 };

static uint64_t next_random(struct steps *steps)
{
	return steps->random = states_mix(steps->random, 1);
}

static uint64_t thread_of(const struct steps *steps, int tid)
{
	for (size_t i = 0; i < steps->threads.count; i++)
		if (steps->threads.items[i].tid == tid)
			return steps->threads.items[i].thread;
	return 0;
}

static void learn_threads(struct steps *steps, const struct rcore_snapshot *snapshot)
{
	steps->threads.count = 0;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (!snapshot->threads[i].tid || snapshot->threads[i].is_ended)
			continue;
		if (!rcore_push(&steps->threads))
			abort();
		steps->threads.items[steps->threads.count - 1].tid = snapshot->threads[i].tid;
		steps->threads.items[steps->threads.count - 1].thread =
			snapshot->threads[i].address;
	}
}

static void set_state(struct steps *steps, uint64_t at, const struct rcore_snapshot *snapshot)
{
	steps->findings.at = at;
	steps->findings.tid = tracee_current(&steps->tracee)->tid;
	steps->findings.snapshot = snapshot;
}

static void check_all_fields(struct steps *steps, uint64_t at)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *err = analysis_check_fields(&steps->analysis, &snapshot);
	set_state(steps, at, steps->last);
	if (err) {
		finding(&steps->findings, "error (fields)", "%s", err->message);
		rcore_error_free(err);
		return;
	}
	check_fields(&steps->findings, snapshot);
	rcore_snapshot_free(snapshot);
}

static void check_fresh(struct steps *steps, uint64_t at)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *err = analysis_load_fresh(&steps->analysis, &snapshot);
	if (err) {
		set_state(steps, at, NULL);
		finding(&steps->findings, "error (fresh)", "%s", err->message);
		rcore_error_free(err);
		return;
	}
	set_state(steps, at, snapshot);
	check_state(&steps->findings, snapshot, steps->layout);
	rcore_snapshot_free(snapshot);
	check_all_fields(steps, at);
}

static struct rcore_error *load(struct steps *steps, struct rcore_snapshot **ret)
{
	uint64_t start = rcore_clock_ns();
	struct rcore_error *err = analysis_load(&steps->analysis, ret);
	uint64_t spent = rcore_clock_ns() - start;
	steps->spent_ns += spent;
	if (spent > steps->slowest_ns)
		steps->slowest_ns = spent;
	steps->analyses++;
	return err;
}

static void forget(struct steps *steps)
{
	rcore_snapshot_free(steps->last);
	steps->last = NULL;
}

static void analyze(struct steps *steps, uint64_t at)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *err = load(steps, &snapshot);
	int tid = tracee_current(&steps->tracee)->tid;
	if (err) {
		set_state(steps, at, NULL);
		finding(&steps->findings, "error", "%s", err->message);
		rcore_error_free(err);
		forget(steps);
		return;
	}
	if (!steps->layout)
		steps->layout = strdup(snapshot->layout_name);
	learn_threads(steps, snapshot);
	set_state(steps, at, snapshot);
	if (steps->at || steps->verbose) {
		printf("    step %" PRIu64 ", thread %d\n", at, tid);
		print_stacks(snapshot, tid);
	}
	check_state(&steps->findings, snapshot, steps->layout);
	bool is_filling = filling_may_last(&steps->filling, &steps->analysis, at);
	steps->findings.excused = false;
	if (steps->recorded)
		check_lines(&steps->findings, &steps->lines, snapshot, is_filling ? tid : 0);
	if (steps->last)
		check_neighbours(&steps->findings, steps->last, snapshot, tid, is_filling);
	if (steps->findings.excused)
		steps->filling.excused_at = at;
	forget(steps);
	steps->last = snapshot;
	if (steps->analyses % steps->fresh == 1 % steps->fresh || at == steps->at)
		check_fresh(steps, at);
	else if (snapshot->problem_count)
		/* If the layout is wrong, this finds the fields. */
		check_all_fields(steps, at);
}

enum { BEFORE = 8 }; /* states shown by --at */

/* Whether a step is among those to be analyzed. */
static bool wanted(const struct steps *steps, uint64_t at)
{
	if (steps->at)
		return at <= steps->at && at + BEFORE > steps->at;
	return states_mix(states_mix(0, steps->seed), at / WINDOW) % 1000 < steps->share;
}

/*
 * Whether one of the next states is to be analyzed in which a frame that is
 * pushed now may be filled.
 */
static bool leads_to_wanted(const struct steps *steps, uint64_t at)
{
	for (uint64_t i = BEFORE; i <= FILLING; i += BEFORE)
		if (wanted(steps, at + i))
			return true;
	return false;
}

static void note_frame(struct steps *steps, uint64_t at)
{
	const struct tracee_thread *thread = tracee_current(&steps->tracee);
	filling_note(&steps->filling, &steps->analysis, &steps->findings,
		     thread_of(steps, thread->tid), at);
}

static bool is_new(struct steps *steps)
{
	const struct tracee_thread *thread = tracee_current(&steps->tracee);
	const struct cursor cursor = steps->filling.cursor;
	uint64_t hash = states_mix(0, thread->registers[16]);
	hash = states_mix(hash, thread->registers[19]);
	hash = states_mix(hash, cursor.ec);
	hash = states_mix(hash, cursor.cfp);
	return states_add(&steps->seen, hash) || steps->at;
}

/*
 * Whether a walk has seen enough. A walk may spend 100,000 instructions in loops
 * of the collector and see only a few hundred states. It then continues up to
 * ten times as far.
 */
static bool is_done(const struct steps *steps, uint64_t at)
{
	enum { EACH = 20, TIMES = 10, ALL = 1000 };
	if (steps->at)
		return at > steps->at;
	uint64_t wanted = steps->count / EACH * steps->share / ALL;
	return at >= steps->from + steps->count &&
	       (steps->seen.count >= wanted || at >= steps->from + TIMES * steps->count);
}

static void run(struct steps *steps)
{
	uint64_t at = 1;
	for (; !is_done(steps, at) && !steps->tracee.has_ended; at++) {
		int tid = tracee_current(&steps->tracee)->tid;
		if (!(next_random(steps) % TURN))
			tracee_switch(&steps->tracee, next_random(steps));
		if (!tracee_step(&steps->tracee) ||
		    tracee_current(&steps->tracee)->tid != tid || at < steps->from) {
			forget(steps);
			if (at < steps->from)
				continue;
		}
		bool is_wanted = !steps->tracee.has_ended && wanted(steps, at);
		if (is_wanted || (!steps->tracee.has_ended && (leads_to_wanted(steps, at) ||
							       filling_owes(&steps->filling))))
			note_frame(steps, at);
		if (is_wanted && is_new(steps))
			analyze(steps, at);
		else
			forget(steps);
	}
	steps->made = at > steps->from ? at - steps->from : 0;
	forget(steps);
	if (steps->tracee.has_ended) {
		set_state(steps, 0, NULL);
		finding(&steps->findings, "ended", "the program ended");
	}
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct steps *steps = state->input;
	uint64_t number = argument ? strtoull(argument, NULL, 0) : 0;
	switch (key) {
	case 's':
		steps->seed = number;
		return 0;
	case 'n':
		steps->count = number;
		return 0;
	case 'f':
		steps->from = number;
		return 0;
	case 'm':
		steps->rounds = number;
		return 0;
	case 'p':
		steps->share = number;
		return 0;
	case 'F':
		steps->fresh = number ? number : 1;
		return 0;
	case 'a':
		steps->at = number;
		return 0;
	case 'e':
		steps->findings.examples = number;
		return 0;
	case 'r':
		steps->recorded = argument;
		return 0;
	case 'P':
		steps->program = argument;
		return 0;
	case 'v':
		steps->verbose = true;
		return 0;
	case ARGP_KEY_ARGS:
		steps->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"seed", 's', "N", 0, "Which states are analyzed, and when threads take turns (0)", 0},
	{"rounds", 'm', "N", 0, "Marks to pass before the first step (1)", 0},
	{"from", 'f', "N", 0, "Steps before the first analysis (0)", 0},
	{"count", 'n', "N", 0, "Steps after it (100000)", 0},
	{"share", 'p', "N", 0, "Thousandths of the steps that are looked at (1000)", 0},
	{"fresh", 'F', "N", 0, "Analyze each N-th state in a new session, too (64)", 0},
	{"at", 'a', "N", 0, "Print the stacks up to this step, and end", 0},
	{"examples", 'e', "N", 0, "Findings of a class to be shown (1)", 0},
	{"recorded", 'r', "FILE", 0, "The stacks that the program recorded", 0},
	{"program", 'P', "PATH", 0, "The program's path as it has it itself", 0},
	{"verbose", 'v', NULL, 0, "Print each state", 0},
	{0},
};

static const struct argp argp = {
	options, parse, "COMMAND...", "Analyzes a Ruby program at every instruction.",
	NULL,    NULL,  NULL};

int main(int argc, char **argv)
{
	struct steps steps = {.count = 100000,
			      .share = 1000,
			      .rounds = 1,
			      .fresh = 64,
			      .findings.examples = 1};
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &steps))
		return 64;
	if (steps.recorded)
		lines_read(&steps.lines, steps.recorded, steps.program ? steps.program : "");
	steps.random = states_mix(0, steps.seed);
	/*
	 * Ends this program, and with it the one that it traces, if that hangs:
	 * 100,000 steps take a minute, on a busy machine ten.
	 */
	enum { SECONDS = 1800, STEPS = 100000 };
	alarm((unsigned)(SECONDS * (1 + steps.count / STEPS)));
	tracee_start(&steps.tracee, steps.command);
	if (!tracee_run_to_mark(&steps.tracee, steps.rounds)) {
		fprintf(stderr, "steps: the program ended before its mark\n");
		return 2;
	}
	analysis_open(&steps.analysis, &steps.tracee);
	analyze(&steps, 0);
	run(&steps);
	uint64_t sum = findings_sum(&steps.findings);
	printf("%" PRIu64 " instructions, %zu states, %" PRIu64
	       " analyses of %.1f ms (slowest %.0f "
	       "ms), layout %s, %" PRIu64 " findings\n",
	       steps.made, steps.seen.count, steps.analyses,
	       (double)steps.spent_ns / 1e6 / (double)(steps.analyses ? steps.analyses : 1),
	       (double)steps.slowest_ns / 1e6, steps.layout ? steps.layout : "none", sum);
	analysis_close(&steps.analysis);
	tracee_kill(&steps.tracee);
	lines_deinit(&steps.lines);
	findings_deinit(&steps.findings);
	states_deinit(&steps.seen);
	free(steps.threads.items);
	free(steps.layout);
	return sum ? 1 : 0;
}
