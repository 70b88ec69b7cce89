/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "report/heap_diff.h"
#include "report/redaction.h"
#include "report/text/heap/text_heap_route.h"
#include "report/text/style.h"

static void print_sides(const struct rcore_pen *pen, const struct rcore_heap_diff *diff)
{
	for (size_t i = 0; i < diff->side_count; i++) {
		const struct rcore_diff_side *side = &diff->sides[i];
		rcore_escape_write(pen->out, side->source);
		fprintf(pen->out, ": %" PRIu64 " reachable objects, %" PRIu64 " bytes\n",
			side->sum.count, side->sum.bytes);
		if (side->doubt) {
			rcore_styled(pen, RCORE_STYLE_PROBLEM, "! ");
			rcore_escape_write(pen->out, side->doubt);
			putc('\n', pen->out);
		}
		if (rcore_heap_is_partial(&side->gaps))
			rcore_styled(pen, RCORE_STYLE_PROBLEM,
				     "! some of it could not be read%s%s\n",
				     side->gaps.problem ? ": " : "",
				     side->gaps.problem ? side->gaps.problem : "");
	}
}

/* Rounds like printf. */
static long tenths(uint64_t bytes)
{
	return lrint(rcore_text_mebibytes(bytes) * 10);
}

/* C memory may grow although no path does, so it is printed first. */
static void print_c_memory(const struct rcore_heap_diff *diff, FILE *out)
{
	const struct rcore_diff_sum *first = diff->sides[0].c_memory;
	const struct rcore_diff_sum *last = diff->sides[diff->side_count - 1].c_memory;
	size_t known = 0;
	for (size_t i = 0; i < diff->side_count; i++)
		known += diff->sides[i].c_memory != NULL;
	if (!known)
		return;
	fputs("C memory in use: ", out);
	for (size_t i = 0; i < diff->side_count; i++) {
		const struct rcore_diff_sum *sum = diff->sides[i].c_memory;
		fputs(i ? ", then " : "", out);
		if (sum)
			fprintf(out, "%.1f MiB", rcore_text_mebibytes(sum->bytes));
		else
			fputs("unknown", out);
	}
	fputs(" (", out);
	/* Less than a tenth is neither growth nor its opposite. */
	if (first && last)
		fprintf(out, "%+.1f MiB; ",
			(double)(tenths(last->bytes) - tenths(first->bytes)) / 10);
	fputs("`rcore heap malloc` prints the owners)\n", out);
}

static void print_growth(const struct rcore_pen *pen, const struct rcore_diff_growth *growth,
			 size_t sides)
{
	FILE *out = pen->out;
	fprintf(out, "\n%+" PRId64 " ", (int64_t)growth->count);
	rcore_escape_write(out, growth->steps[growth->step_count - 1].klass);
	fprintf(out, ", %+" PRId64 " bytes", growth->bytes);
	if (growth->followers)
		fputs(" with what they hold", out);
	fputs(" (", out);
	for (size_t i = 0; i < sides; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", growth->sides[i].count);
	fputs(")\n", out);
	for (size_t i = 0; i < growth->step_count; i++) {
		fputs("    ", out);
		rcore_escape_write(out, growth->steps[i].how);
		fputs(": ", out);
		rcore_escape_write(out, growth->steps[i].klass);
		putc('\n', out);
	}
}

static void print_classes(const struct rcore_pen *pen, const struct rcore_heap_diff *diff)
{
	const size_t last = diff->side_count - 1;
	fputs("\n      objects          bytes  class\n", pen->out);
	for (size_t i = 0; i < diff->class_count; i++) {
		const struct rcore_diff_class *klass = &diff->classes[i];
		fprintf(pen->out, "%+13" PRId64 " %+14" PRId64 "  ",
			(int64_t)(klass->sides[last].count - klass->sides[0].count),
			(int64_t)(klass->sides[last].bytes - klass->sides[0].bytes));
		rcore_escape_write(pen->out, klass->name);
		putc('\n', pen->out);
	}
	if (diff->class_count < diff->all_classes)
		fprintf(pen->out, "          ... (%zu more class%s)\n",
			diff->all_classes - diff->class_count,
			diff->all_classes - diff->class_count == 1 ? "" : "es");
}

struct rcore_error *rcore_report_heap_diff_text(const struct rcore_heap_diff *diff,
						const struct rcore_report_options *options,
						FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	print_sides(&pen, diff);
	print_c_memory(diff, out);
	if (!diff->growth_count)
		fputs("\nNo path leads to more objects than before.\n", out);
	for (size_t i = 0; i < diff->growth_count; i++)
		print_growth(&pen, &diff->growths[i], diff->side_count);
	if (diff->growth_count < diff->all_growths)
		fprintf(out, "\n... (%zu more path%s)\n",
			diff->all_growths - diff->growth_count,
			rcore_plural(diff->all_growths - diff->growth_count));
	if (diff->is_cut)
		fputs("There are too many paths, or too long ones; some are counted as shorter "
		      "ones.\n",
		      out);
	print_classes(&pen, diff);
	rcore_text_redaction(&pen, &diff->redaction);
	return rcore_pen_error(out);
}
