/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * The format of flamegraph.pl, which many programs read: frames from the
 * outermost, separated by ';', and nanoseconds. With two sides, the format of
 * difffolded.pl: the old number, then the new one. Functions of the kernel end
 * with "_[k]", as stackcollapse-perf.pl --kernel writes them.
 */

static void write_name(const char *name, FILE *out)
{
	for (; *name; name++) {
		if (*name == ';')
			fputs("\\x3B", out);
		else
			putc(*name, out);
	}
}

static bool is_of_kernel(const struct rcore_tree *tree, uint32_t node)
{
	return rcore_profile_function_at(tree->profile, tree->items[node].function)->kind ==
	       RCORE_FUNCTION_KERNEL;
}

/*
 * Writes the frames of `node`, outermost first. `stack` has room for them.
 */
static void write_stack(const struct rcore_tree *tree, uint32_t node, uint32_t *stack,
			FILE *out)
{
	uint32_t depth = tree->items[node].depth;
	for (uint32_t i = depth; i--; node = tree->items[node].parent)
		stack[i] = node;
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			putc(';', out);
		write_name(rcore_tree_label(tree, stack[i]), out);
		if (is_of_kernel(tree, stack[i]))
			fputs("_[k]", out);
	}
	if (!depth)
		fputs("(no frames)", out);
}

struct rcore_error *rcore_profile_folded(const struct rcore_profile_report *report, FILE *out)
{
	struct rcore_tree *tree;
	struct rcore_error *err = rcore_tree_new(report->totals, report->measure, 0, &tree);
	if (err)
		return err;
	uint32_t *stack = calloc(tree->max_depth + 1, sizeof(*stack));
	uint32_t node = 0;
	do {
		const uint64_t *self = tree->items[node].self;
		if (!stack || (!self[RCORE_SIDE_NEW] && !self[RCORE_SIDE_OLD]))
			continue;
		write_stack(tree, node, stack, out);
		if (report->is_diff)
			fprintf(out, " %" PRIu64, self[RCORE_SIDE_OLD]);
		fprintf(out, " %" PRIu64 "\n", self[RCORE_SIDE_NEW]);
	} while ((node = rcore_tree_next(tree, node)));
	err = stack ? rcore_pen_error(out) : rcore_error_no_memory();
	free(stack);
	rcore_tree_free(tree);
	return err;
}
