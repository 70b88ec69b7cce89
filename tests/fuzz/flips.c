/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "flip_compare.h"
#include "flip_guard.h"
#include "flip_heap.h"
#include "flip_memory.h"
#include "flip_rules.h"
#include "flip_words.h"
#include "report/report.h"
#include "session/session.h"
#include "target/core/core.h"

/*
 * Flips words of a core, analyzes it, and checks the result: the analysis ends,
 * within limits, and each difference from the analysis without flips is marked,
 * or a rule (flip_rules.h) allows it.
 */
struct flips {
	const char *path;
	struct rcore_options options;
	uint64_t from, count;
	uint64_t heap_step; /* in each so many seeds, the whole heap is read, too */
	const char *role;   /* the only one of which words are flipped; NULL: any */
	int chosen;         /* its place in `roles`; -1: any */
	bool verbose, list;

	struct rcore_core *core;
	uint64_t saved; /* bytes in the core's segments */
	struct flip_memory memory;
	struct flip_words words; /* that the analysis read */
	struct {
		size_t *items;
		size_t count, capacity;
	} roles; /* the place of each one's first word, and the end */
	struct rcore_snapshot *clean;
	const char *report_fault; /* of the last analysis; NULL: none */
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

static void check(struct rcore_error *err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "flips: %s: %s\n", what, err->message);
	exit(2);
}

enum report { TEXT, TEXT_ALL, JSON, DOCTOR, REPORT_COUNT };

static void write_report(struct flips *flips, const struct rcore_snapshot *snapshot,
			 enum report report)
{
	const struct rcore_report_options all = {.all = true, .verbose = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	if (report == JSON)
		check(rcore_report_json(snapshot, NULL, out), "JSON");
	else if (report == DOCTOR)
		check(rcore_report_doctor(snapshot, NULL, NULL, out), "doctor");
	else
		check(rcore_report_text(snapshot, report == TEXT_ALL ? &all : NULL, out),
		      "text");
	fclose(out);
	const char *fault = report == JSON ? flip_check_json(text) : flip_check_text(text);
	if (fault)
		flips->report_fault = fault;
	free(text);
}

static struct rcore_error *analyze(struct flips *flips, struct rcore_snapshot **ret)
{
	struct rcore_session *session;
	struct rcore_error *err =
		rcore_session_open(rcore_core_process(flips->core), &flips->memory.memory,
				   &flips->options, &session);
	if (err)
		return err;
	err = rcore_load(session, ret);
	rcore_close(session);
	flips->report_fault = NULL;
	for (int i = 0; !err && i < REPORT_COUNT; i++)
		write_report(flips, *ret, (enum report)i);
	return err;
}

static uint64_t anywhere(const struct flips *flips, uint64_t random)
{
	struct rcore_segment segment;
	uint64_t place = random % flips->saved;
	for (size_t i = 0; rcore_core_segment(flips->core, i, &segment); i++) {
		if (place < segment.saved)
			return (segment.start + place) & ~UINT64_C(7);
		place -= segment.saved;
	}
	return 0;
}

/*
 * Draws a word of the chosen role; if that is negative, draws a role first, so
 * that rare roles get their share.
 */
static uint64_t word_of_role(const struct flips *flips, int chosen, uint64_t *random)
{
	size_t drawn = next_random(random) % (flips->roles.count - 1);
	size_t role = chosen < 0 ? drawn : (size_t)chosen;
	size_t first = flips->roles.items[role], end = flips->roles.items[role + 1];
	return flips->words.items[first + next_random(random) % (end - first)].address;
}

/* The new value of a word: one bit, all of it, a little more or less, or what another holds. */
static uint64_t mutate(const struct flips *flips, uint64_t old, uint64_t *random)
{
	uint64_t choice = next_random(random), other = next_random(random), word;
	switch (choice % 8) {
	case 0:
		return other;
	case 1:
		return choice & 8 ? 0 : UINT64_MAX;
	case 2:
		return old + (other % 17 - 8) * 8;
	case 3:
		return rcore_read_u64(flips->memory.below, word_of_role(flips, -1, random),
				      &word)
			       ? other
			       : word;
	default:
		return old ^ UINT64_C(1) << other % 64;
	}
}

/*
 * Chooses one word, in every eighth seed a few; in half of the seeds, words
 * that the analysis read.
 */
static void plan(struct flips *flips, uint64_t seed)
{
	uint64_t random = seed * 2654435761u + 1, old;
	size_t count = next_random(&random) % 8 ? 1 : 2 + next_random(&random) % 3;
	flips->memory.flip_count = 0;
	flips->memory.hits = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t address = seed % 2 || flips->chosen >= 0
					   ? word_of_role(flips, flips->chosen, &random)
					   : anywhere(flips, next_random(&random));
		if (!rcore_read_u64(flips->memory.below, address, &old))
			flips->memory.flips[flips->memory.flip_count++] =
				(struct flip){address, old ^ mutate(flips, old, &random)};
	}
}

static void find_roles(struct flips *flips)
{
	for (size_t i = 0; i <= flips->words.count; i++) {
		const struct flip_word *word = &flips->words.items[i];
		if (i && i < flips->words.count && !strcmp(word->role, word[-1].role))
			continue;
		size_t *place = rcore_push(&flips->roles);
		if (!place)
			abort();
		*place = i;
	}
}

static void choose_role(struct flips *flips)
{
	for (size_t i = 0; i + 1 < flips->roles.count; i++)
		if (!strcmp(flips->words.items[flips->roles.items[i]].role, flips->role)) {
			flips->chosen = (int)i;
			return;
		}
	fprintf(stderr, "flips: no word has the role %s: --words lists them\n", flips->role);
	exit(2);
}

static void tell(const char *part, const char *problem)
{
	if (problem)
		fprintf(stderr, "flips: without flips: %s: %s\n", part, problem);
}

/* Prints why there is nothing to compare with. */
static void tell_problems(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->problem_count; i++)
		tell("the whole", snapshot->problems[i]);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		tell(snapshot->threads[i].id, snapshot->threads[i].problem);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		tell(fiber->id, fiber->problem);
		for (size_t j = 0; j < fiber->frame_count; j++)
			tell(fiber->id, fiber->frames[j].problem);
	}
}

static void prepare(struct flips *flips)
{
	struct flip_record record;
	struct rcore_segment segment;
	check(rcore_core_open(flips->path, &flips->core), flips->path);
	for (size_t i = 0; rcore_core_segment(flips->core, i, &segment); i++)
		flips->saved += segment.saved;
	flip_memory_init(&flips->memory, rcore_core_memory(flips->core));
	flip_record_start(&flips->memory, &record);
	check(analyze(flips, &flips->clean), "without flips");
	flip_record_stop();
	flip_words_init(&flips->words, &record);
	flip_record_deinit(&record);
	if (flips->clean->incomplete || !flips->words.count || !flips->saved) {
		tell_problems(flips->clean);
		fprintf(stderr, "flips: %s: not whole without flips\n", flips->path);
		exit(2);
	}
	find_roles(flips);
	if (flips->role)
		choose_role(flips);
}

static void print_flips(const struct flips *flips)
{
	for (size_t i = 0; i < flips->memory.flip_count; i++) {
		const struct flip *flip = &flips->memory.flips[i];
		uint64_t old = 0;
		rcore_read_u64(flips->memory.below, flip->address, &old);
		printf("    0x%" PRIx64 ": 0x%" PRIx64 " to 0x%" PRIx64, flip->address, old,
		       old ^ flip->mask);
		for (size_t j = 0; j < flips->words.count; j++)
			if (flips->words.items[j].address == flip->address)
				printf(" (%s)", flips->words.items[j].role);
		printf("\n");
	}
}

static void print_effects(unsigned effects)
{
	for (int i = 0; i < FLIP_EFFECT_COUNT; i++)
		if (effects & 1u << i)
			printf(" [%s]", flip_effect_name(i));
	printf("\n");
}

static unsigned allowed(const struct flips *flips)
{
	unsigned effects = 0;
	for (size_t i = 0; i < flips->memory.flip_count; i++)
		for (size_t j = 0; j < flips->words.count; j++)
			if (flips->words.items[j].address == flips->memory.flips[i].address)
				effects |= flip_allowed(flips->words.items[j].role);
	return effects;
}

/* Whether the analysis without flips reads none of the words. */
static bool is_unread(const struct flips *flips)
{
	for (size_t i = 0; i < flips->memory.flip_count; i++)
		if (flip_words_were_read(&flips->words, flips->memory.flips[i].address))
			return false;
	return true;
}

enum outcome {
	UNREAD,   /* no flipped word was read */
	SAME,     /* it made no difference */
	REFUSED,  /* the analysis says that it cannot */
	MARKED,   /* the snapshot says that it is not whole */
	ALLOWED,  /* by a rule */
	INVENTED, /* by none */
	BROKEN,   /* out of bounds, or not a valid report */
	OUTCOME_COUNT,
};

static enum outcome run(struct flips *flips, uint64_t seed)
{
	enum { SAMPLED = 32 };
	struct rcore_snapshot *snapshot = NULL;
	char text[512] = "";
	unsigned effects = 0;
	enum outcome outcome;

	plan(flips, seed);
	/*
	 * The analysis is deterministic: it reads the same words until it reads one
	 * that is flipped. Half of all seeds flip none that it reads; some of these
	 * are run nevertheless, to test this.
	 */
	bool unread = is_unread(flips), with_heap = seed % flips->heap_step == 0;
	if (unread && !with_heap && seed / 2 % SAMPLED)
		return UNREAD;
	flip_guard_begin(seed);
	struct rcore_error *err = analyze(flips, &snapshot);
	if (err) {
		snprintf(text, sizeof(text), "%s", err->message);
		outcome = REFUSED;
	} else {
		effects = flip_compare(flips->clean, snapshot, text, sizeof(text));
		outcome = !flips->memory.hits            ? UNREAD
			  : snapshot->incomplete         ? MARKED
			  : !effects                     ? SAME
			  : !(effects & ~allowed(flips)) ? ALLOWED
							 : INVENTED;
	}
	rcore_error_free(err);
	rcore_snapshot_free(snapshot);
	if (unread && flips->memory.hits)
		flips->report_fault = "read other words than without flips";
	if (outcome != REFUSED && !flips->report_fault && with_heap)
		flips->report_fault = flip_heap(flips->core, &flips->memory, &flips->options);
	const char *fault = flip_guard_end();
	if (flips->report_fault || fault) {
		outcome = BROKEN;
		snprintf(text, sizeof(text), "%s", fault ? fault : flips->report_fault);
	}
	if (outcome >= INVENTED || (flips->verbose && outcome >= REFUSED)) {
		printf("seed %" PRIu64 ": %s\n   ", seed, text);
		print_effects(effects);
		print_flips(flips);
	}
	return outcome;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct flips *flips = state->input;
	switch (key) {
	case 'f':
		flips->from = strtoull(argument, NULL, 0);
		return 0;
	case 'n':
		flips->count = strtoull(argument, NULL, 0);
		return 0;
	case 'h':
		flips->heap_step = strtoull(argument, NULL, 0);
		if (!flips->heap_step)
			argp_usage(state);
		return 0;
	case 'r':
		flips->role = argument;
		return 0;
	case 's':
		flips->options.sysroot = argument;
		return 0;
	case 'v':
		flips->verbose = true;
		return 0;
	case 'w':
		flips->list = true;
		return 0;
	case ARGP_KEY_ARG:
		if (flips->path)
			argp_usage(state);
		flips->path = argument;
		return 0;
	case ARGP_KEY_END:
		if (!flips->path)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"from", 'f', "SEED", 0, "The first seed (0)", 0},
	{"count", 'n', "N", 0, "How many (1)", 0},
	{"heap", 'h', "STEP", 0, "Read the heap in each STEPth seed, too (20)", 0},
	{"role", 'r', "ROLE", 0, "Flip words of this role alone, e.g. vm.main_thread", 0},
	{"sysroot", 's', "DIR", 0, "As rcore's", 0},
	{"verbose", 'v', NULL, 0, "Each seed of which the outcome differs", 0},
	{"words", 'w', NULL, 0, "List the words that are read, and end", 0},
	{0},
};

static const struct argp argp = {
	options, parse, "CORE", "Flips words of a core and analyzes it.", NULL, NULL, NULL};

static void describe(const struct flips *flips, const uint64_t counts[OUTCOME_COUNT])
{
	static const char *const names[OUTCOME_COUNT] = {
		"unread",  "without effect", "refused",      "marked",
		"allowed", "invented",       "out of bounds"};
	printf("%s: %" PRIu64 " seeds:", flips->clean->ruby_version, flips->count);
	for (int i = 0; i < OUTCOME_COUNT; i++)
		printf("%s %" PRIu64 " %s", i ? "," : "", counts[i], names[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct flips flips = {.count = 1, .heap_step = 20, .chosen = -1};
	uint64_t counts[OUTCOME_COUNT] = {0};
	char command[256];

	if (argp_parse(&argp, argc, argv, 0, NULL, &flips))
		return 64;
	snprintf(command, sizeof(command), "%s%s%s %s --from ", argv[0],
		 flips.options.sysroot ? " --sysroot " : "",
		 flips.options.sysroot ? flips.options.sysroot : "", flips.path);
	flip_guard_init(command);
	prepare(&flips);
	if (flips.list) {
		for (size_t i = 0; i < flips.words.count; i++)
			printf("0x%" PRIx64 " %s\n", flips.words.items[i].address,
			       flips.words.items[i].role);
		return 0;
	}
	for (uint64_t i = 0; i < flips.count; i++)
		counts[run(&flips, flips.from + i)]++;
	describe(&flips, counts);
	rcore_snapshot_free(flips.clean);
	flip_words_deinit(&flips.words);
	free(flips.roles.items);
	rcore_core_close(flips.core);
	return counts[INVENTED] || counts[BROKEN];
}
