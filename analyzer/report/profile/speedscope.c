/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "report/json/json_writer.h"
#include "report/profile/facts.h"
#include "report/profile/measures.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * The file format of speedscope: a list of functions, and profiles whose
 * samples are stacks of these. Each group of --by, and each side of --diff, is
 * a profile in its menu.
 */

static void put_frames(struct rcore_json *json, const struct rcore_profile *profile)
{
	rcore_json_open(json, "shared", '{');
	rcore_json_open(json, "frames", '[');
	for (uint32_t i = 0; i < profile->functions.count; i++) {
		const struct rcore_profile_function *function =
			rcore_profile_function_at(profile, i);
		const char *label = rcore_profile_text(profile, function->label);
		const char *path = rcore_profile_text(profile, function->path);
		struct json_object *object = rcore_json_object(json);
		rcore_json_add(json, object, "name",
			       rcore_json_string(json, label[0] ? label : "(unknown)"));
		if (path[0])
			rcore_json_add(json, object, "file", rcore_json_string(json, path));
		rcore_json_add_count(json, object, "line", function->first_line);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
	rcore_json_close(json, '}');
}

/*
 * Writes the functions from the outermost to that of `node`. `stack` has room
 * for them.
 */
static void put_stack(struct rcore_json *json, const struct rcore_tree *tree, uint32_t node,
		      uint32_t *stack)
{
	uint32_t depth = tree->items[node].depth;
	for (uint32_t i = depth; i--; node = tree->items[node].parent)
		stack[i] = tree->items[node].function;
	rcore_json_start(json, NULL);
	putc('[', json->out);
	for (uint32_t i = 0; i < depth; i++)
		fprintf(json->out, i ? ",%" PRIu32 : "%" PRIu32, stack[i]);
	putc(']', json->out);
}

/* Returns the node after `node` below `top`, or 0 after the last one. */
static uint32_t next_below(const struct rcore_tree *tree, uint32_t node, uint32_t top)
{
	uint32_t next = rcore_tree_next(tree, node);
	return tree->items[next].depth > tree->items[top].depth ? next : 0;
}

/* Writes the samples of `top` and everything below it. */
static void put_profile(struct rcore_json *json, const struct rcore_tree *tree, uint32_t top,
			enum rcore_side side, const char *name, const char *unit,
			uint32_t *stack)
{
	const struct rcore_tree_node *nodes = tree->items;
	rcore_json_open(json, NULL, '{');
	rcore_json_put_text(json, "type", "sampled");
	rcore_json_put_text(json, "name", name);
	rcore_json_put_text(json, "unit", unit);
	rcore_json_put(json, "startValue", json_object_new_int(0));
	rcore_json_put_number(json, "endValue", nodes[top].total[side]);
	rcore_json_open(json, "samples", '[');
	uint32_t node = top;
	do {
		if (nodes[node].self[side])
			put_stack(json, tree, node, stack);
	} while ((node = next_below(tree, node, top)));
	rcore_json_close(json, ']');
	rcore_json_open(json, "weights", '[');
	node = top;
	do {
		if (nodes[node].self[side])
			rcore_json_put_number(json, NULL, nodes[node].self[side]);
	} while ((node = next_below(tree, node, top)));
	rcore_json_close(json, ']');
	rcore_json_close(json, '}');
}

static void put_side(struct rcore_json *json, const struct rcore_profile_report *report,
		     const struct rcore_tree *tree, enum rcore_side side, uint32_t *stack)
{
	const char *prefix = !report->is_diff ? "" : side == RCORE_SIDE_NEW ? "new " : "old ";
	const struct rcore_measure_words *words = &rcore_measure_words[report->measure];
	uint32_t group = tree->items[0].first_child;
	char name[2 * RCORE_PROFILE_TEXT_MAX];
	if (report->totals->options.by == RCORE_BY_NOTHING || !group) {
		snprintf(name, sizeof(name), "%s%s", prefix, words->title);
		put_profile(json, tree, 0, side, name, words->unit, stack);
		return;
	}
	for (; group; group = tree->items[group].next_sibling) {
		snprintf(name, sizeof(name), "%s%s", prefix, rcore_tree_label(tree, group));
		if (tree->items[group].total[side])
			put_profile(json, tree, group, side, name, words->unit, stack);
	}
}

static void put_all(struct rcore_json *json, const struct rcore_profile_report *report,
		    const struct rcore_tree *tree, uint32_t *stack)
{
	const char *command = rcore_facts_find(report->facts[RCORE_SIDE_NEW], "command");
	rcore_json_open(json, NULL, '{');
	rcore_json_put_text(json, "$schema",
			    "https://www.speedscope.app/file-format-schema.json");
	rcore_json_put_text(json, "exporter", "rcore");
	rcore_json_put_text(json, "name", command ? command : "recording of rcore");
	rcore_json_put(json, "activeProfileIndex", json_object_new_int(0));
	put_frames(json, tree->profile);
	rcore_json_open(json, "profiles", '[');
	put_side(json, report, tree, RCORE_SIDE_NEW, stack);
	if (report->is_diff)
		put_side(json, report, tree, RCORE_SIDE_OLD, stack);
	rcore_json_close(json, ']');
	rcore_json_close(json, '}');
	putc('\n', json->out);
}

struct rcore_error *rcore_profile_speedscope(const struct rcore_profile_report *report,
					     FILE *out)
{
	struct rcore_json json = {.out = out};
	struct rcore_tree *tree;
	struct rcore_error *err = rcore_tree_new(report->totals, report->measure, 0, &tree);
	if (err)
		return err;
	uint32_t *stack = calloc(tree->max_depth + 1, sizeof(*stack));
	if (stack)
		put_all(&json, report, tree, stack);
	err = stack && !json.no_memory ? rcore_pen_error(out) : rcore_error_no_memory();
	free(stack);
	rcore_tree_free(tree);
	return err;
}
