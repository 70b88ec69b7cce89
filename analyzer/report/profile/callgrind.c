/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/profile/facts.h"
#include "report/profile/measures.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * The format of Valgrind's callgrind, which KCachegrind and callgrind_annotate
 * read. One program computes a function's total as its own cost plus that of
 * its calls, the other as the cost of all calls to it. For both to be right
 * with recursion, a function counts once per stack, as its innermost frame,
 * which the next frame that counts has called. "(root)" calls the outermost
 * one; the own cost of "(root)" is that of empty stacks.
 */

/* A line of the file: a function's own cost (callee 0), or that of a call. */
struct cost_key {
	uint32_t function, callee, line; /* callee: number plus one */
};

struct cost {
	uint64_t sides[RCORE_SIDES];
};

struct costs {
	struct rcore_record_set keys;
	struct cost *items;
	size_t capacity;
	/* For each function, the last total that contains it, plus one. */
	uint32_t *seen;
	bool no_memory;
};

static void add_cost(struct costs *costs, const struct cost_key *key,
		     const struct rcore_profile_report *report, size_t index)
{
	uint32_t number;
	size_t known = costs->keys.count;
	if (!rcore_grow((void **)&costs->items, known, &costs->capacity,
			sizeof(*costs->items)) ||
	    !rcore_record_set_add(&costs->keys, key, &number)) {
		costs->no_memory = true;
		return;
	}
	if (number == known)
		costs->items[number] = (struct cost){0};
	for (int side = 0; side < RCORE_SIDES; side++)
		costs->items[number].sides[side] += rcore_measured(
			rcore_totals_amounts(report->totals, index, side), report->measure);
}

static void add_stack(struct costs *costs, const struct rcore_profile_report *report,
		      size_t index)
{
	const struct rcore_profile *profile = report->totals->profile;
	uint32_t node = rcore_totals_key(report->totals, index)->node, callee = 0;
	for (; node; node = rcore_profile_node_at(profile, node)->parent) {
		const struct rcore_profile_frame *frame = rcore_profile_frame_at(
			profile, rcore_profile_node_at(profile, node)->frame);
		const struct cost_key key = {frame->function, callee, frame->line};
		if (costs->seen[frame->function] == index + 1)
			continue;
		costs->seen[frame->function] = (uint32_t)index + 1;
		add_cost(costs, &key, report, index);
		callee = frame->function + 1;
	}
	const struct cost_key root = {0, callee, 0};
	add_cost(costs, &root, report, index);
}

static int compare(const void *a, const void *b, void *opaque)
{
	const struct cost_key *keys = opaque;
	const struct cost_key *x = &keys[*(const uint32_t *)a],
			      *y = &keys[*(const uint32_t *)b];
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* The file contains a name once, and then refers to its number. */
static void write_name(const char *tag, uint32_t number, const char *name, bool *is_known,
		       FILE *out)
{
	fprintf(out, "%s=(%" PRIu32 ")", tag, number);
	if (!is_known[number])
		fprintf(out, " %s", name);
	is_known[number] = true;
	putc('\n', out);
}

/* Names that the file already contains. */
struct known {
	bool *functions, *paths;
};

static void write_function(const struct rcore_profile *profile, uint32_t number,
			   const char *file_tag, const char *tag, struct known *known,
			   FILE *out)
{
	const struct rcore_profile_function *function =
		rcore_profile_function_at(profile, number);
	const char *path = rcore_profile_text(profile, function->path);
	const char *label = rcore_profile_text(profile, function->label);
	write_name(file_tag, function->path, path[0] ? path : "???", known->paths, out);
	write_name(tag, number,
		   !number    ? "(root)"
		   : label[0] ? label
			      : "(unknown)",
		   known->functions, out);
}

static void write_cost(const struct rcore_profile_report *report, uint32_t line,
		       const struct cost *cost, FILE *out)
{
	fprintf(out, "%" PRIu32 " %" PRIu64, line, cost->sides[RCORE_SIDE_NEW]);
	if (report->is_diff)
		fprintf(out, " %" PRIu64, cost->sides[RCORE_SIDE_OLD]);
	putc('\n', out);
}

static void write_costs(const struct rcore_profile_report *report, const struct costs *costs,
			const uint32_t *order, struct known *known, FILE *out)
{
	const struct rcore_profile *profile = report->totals->profile;
	uint32_t current = UINT32_MAX;
	for (size_t i = 0; i < costs->keys.count; i++) {
		const struct cost_key *key =
			(const struct cost_key *)costs->keys.items + order[i];
		if (key->function != current) {
			putc('\n', out);
			write_function(profile, key->function, "fl", "fn", known, out);
			current = key->function;
		}
		if (key->callee) {
			uint32_t callee = key->callee - 1;
			write_function(profile, callee, "cfi", "cfn", known, out);
			fprintf(out, "calls=1 %" PRIu32 "\n",
				rcore_profile_function_at(profile, callee)->first_line);
		}
		write_cost(report, key->line, &costs->items[order[i]], out);
	}
}

static void write_head(const struct rcore_profile_report *report, FILE *out)
{
	const char *command = rcore_facts_find(report->facts[RCORE_SIDE_NEW], "command");
	const struct rcore_measure_words *words = &rcore_measure_words[report->measure];
	const char *measure = words->name;
	const char *unit = words->is_time ? " in nanoseconds" : "";
	fputs("# callgrind format\nversion: 1\ncreator: rcore\n", out);
	if (command)
		fprintf(out, "cmd: %s\n", command);
	fprintf(out, "positions: line\nevent: %s : %s%s\n", measure, words->title, unit);
	if (report->is_diff)
		fprintf(out, "event: Old%s : %s of the old recording%s\n", measure,
			words->title, unit);
	fprintf(out, "events: %s", measure);
	if (report->is_diff)
		fprintf(out, " Old%s", measure);
	fprintf(out, "\nsummary: %" PRIu64,
		rcore_measured(report->totals->sums[RCORE_SIDE_NEW], report->measure));
	if (report->is_diff)
		fprintf(out, " %" PRIu64,
			rcore_measured(report->totals->sums[RCORE_SIDE_OLD], report->measure));
	putc('\n', out);
}

static bool write_all(const struct rcore_profile_report *report, struct costs *costs,
		      struct known *known, FILE *out)
{
	size_t count = costs->keys.count;
	uint32_t *order = rcore_calloc(count, sizeof(*order));
	if (!order || !known->functions || !known->paths)
		return false;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare, costs->keys.items);
	write_head(report, out);
	write_costs(report, costs, order, known, out);
	free(order);
	return true;
}

struct rcore_error *rcore_profile_callgrind(const struct rcore_profile_report *report,
					    FILE *out)
{
	const struct rcore_profile *profile = report->totals->profile;
	struct costs costs = {
		.keys.record_size = sizeof(struct cost_key),
		.seen = calloc(profile->functions.count, sizeof(*costs.seen)),
	};
	struct known known = {calloc(profile->functions.count, sizeof(bool)),
			      calloc(profile->strings.count, sizeof(bool))};
	costs.no_memory = !costs.seen;
	for (size_t i = 0; i < report->totals->keys.count && !costs.no_memory; i++)
		add_stack(&costs, report, i);
	bool is_written = !costs.no_memory && write_all(report, &costs, &known, out);
	rcore_record_set_deinit(&costs.keys);
	free(costs.items);
	free(costs.seen);
	free(known.functions);
	free(known.paths);
	return is_written ? rcore_pen_error(out) : rcore_error_no_memory();
}
