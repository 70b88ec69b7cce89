/* SPDX-License-Identifier: MIT */
#include "report/profile/flame_layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"

/* The amount that determines the width of a node. */
static uint64_t width_of(const struct rcore_flame *flame, uint32_t node)
{
	return flame->tree->items[node].total[RCORE_SIDE_NEW];
}

double rcore_flame_share(const struct rcore_flame *flame, uint32_t node)
{
	return flame->whole ? (double)width_of(flame, node) / (double)flame->whole : 0;
}

int64_t rcore_flame_change(const struct rcore_flame *flame, uint32_t node)
{
	const uint64_t *total = flame->tree->items[node].total;
	return (int64_t)(total[RCORE_SIDE_NEW] - total[RCORE_SIDE_OLD]);
}

const char *rcore_flame_name(const struct rcore_flame *flame, uint32_t node)
{
	return node ? rcore_tree_label(flame->tree, node) : "all";
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/*
 * Finds the width of the narrowest of the `limit` widest frames, the root
 * included, and how many frames of just this width are among them: those of a
 * recursion are equally wide.
 */
static struct rcore_error *find_least(struct rcore_flame *flame, size_t limit)
{
	size_t count = flame->tree->count;
	flame->equal = SIZE_MAX;
	if (!limit || count <= limit)
		return NULL;
	uint64_t *widths = rcore_calloc(count, sizeof(*widths));
	if (!widths)
		return rcore_error_no_memory();
	for (uint32_t node = 0; node < count; node++)
		widths[node] = width_of(flame, node);
	qsort(widths, count, sizeof(*widths), rcore_descending);
	flame->least = widths[limit - 1];
	flame->equal = 0;
	for (size_t i = 1; i < limit; i++)
		flame->equal += widths[i] == flame->least;
	free(widths);
	return NULL;
}

/* A caller is as wide as its callees, and is asked for before them. */
static bool is_wide(struct rcore_flame *flame, uint32_t node)
{
	uint64_t width = width_of(flame, node);
	if (width < flame->least || rcore_flame_share(flame, node) < RCORE_FLAME_LEAST)
		return false;
	return width > flame->least || (flame->equal && flame->equal--);
}

/* Callees are side by side, from the start of their caller. */
static void lay_out(struct rcore_flame *flame)
{
	const struct rcore_tree_node *nodes = flame->tree->items;
	uint32_t node = 0;
	flame->is_shown[0] = true;
	do {
		double at = flame->left[node];
		uint64_t change = magnitude(rcore_flame_change(flame, node));
		if (node && change > flame->most)
			flame->most = change;
		if (flame->is_shown[node] && nodes[node].depth > flame->depth)
			flame->depth = nodes[node].depth;
		for (uint32_t child = nodes[node].first_child; child;
		     child = nodes[child].next_sibling) {
			flame->left[child] = at;
			at += rcore_flame_share(flame, child);
			flame->is_shown[child] = flame->is_shown[node] && is_wide(flame, child);
			flame->narrow += !flame->is_shown[child];
		}
	} while ((node = rcore_tree_next(flame->tree, node)));
}

/* A name has the same shade in each graph. */
static unsigned shade(const char *name)
{
	uint32_t hash = 2166136261u;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

/*
 * By kind: Ruby red to yellow, C orange, native blue, the kernel green, the GC
 * violet, rcore's own notes grey.
 */
static void write_kind_color(const struct rcore_flame *flame, uint32_t node, FILE *out)
{
	static const struct {
		unsigned hue, hues, saturation;
	} colors[] = {
		[RCORE_FUNCTION_NONE] = {0, 1, 0},
		[RCORE_FUNCTION_RUBY] = {5, 35, 85},
		[RCORE_FUNCTION_C] = {42, 14, 75},
		[RCORE_FUNCTION_NATIVE] = {195, 20, 55},
		[RCORE_FUNCTION_GC] = {285, 10, 45},
		[RCORE_FUNCTION_NOTE] = {0, 1, 0},
		[RCORE_FUNCTION_KERNEL] = {145, 15, 35},
	};
	const struct rcore_profile_function *function = rcore_profile_function_at(
		flame->tree->profile, flame->tree->items[node].function);
	uint32_t kind = node && function->kind < RCORE_FUNCTION_KINDS ? function->kind : 0;
	unsigned hash = shade(rcore_tree_label(flame->tree, node));
	fprintf(out, "hsl(%u,%u%%,%u%%)", colors[kind].hue + hash % colors[kind].hues,
		colors[kind].saturation, kind ? 68 + hash / 64 % 8 : 85);
}

/* Red: slower than before; blue: faster. */
static void write_change_color(const struct rcore_flame *flame, uint32_t node, FILE *out)
{
	int64_t change = rcore_flame_change(flame, node);
	double share = flame->most ? (double)magnitude(change) / (double)flame->most : 0;
	fprintf(out, "hsl(%d,%d%%,%d%%)", change < 0 ? 215 : 5, change ? 80 : 0,
		(int)(92 - 37 * (share > 1 ? 1 : share)));
}

void rcore_flame_write_color(const struct rcore_flame *flame, uint32_t node, FILE *out)
{
	if (flame->report->is_diff)
		write_change_color(flame, node, out);
	else
		write_kind_color(flame, node, out);
}

struct rcore_error *rcore_flame_init(const struct rcore_profile_report *report, size_t limit,
				     struct rcore_flame *ret)
{
	uint64_t whole = rcore_measured(report->totals->sums[RCORE_SIDE_NEW], report->measure);
	*ret = (struct rcore_flame){.report = report};
	struct rcore_error *err =
		rcore_tree_new(report->totals, report->measure,
			       (uint64_t)(RCORE_FLAME_LEAST * (double)whole), &ret->tree);
	if (err)
		return err;
	ret->whole = ret->tree->items[0].total[RCORE_SIDE_NEW];
	ret->left = rcore_calloc(ret->tree->count, sizeof(*ret->left));
	ret->is_shown = rcore_calloc(ret->tree->count, sizeof(*ret->is_shown));
	err = ret->left && ret->is_shown ? find_least(ret, limit) : rcore_error_no_memory();
	if (err)
		rcore_flame_deinit(ret);
	else
		lay_out(ret);
	return err;
}

void rcore_flame_deinit(struct rcore_flame *flame)
{
	free(flame->left);
	free(flame->is_shown);
	rcore_tree_free(flame->tree);
}
