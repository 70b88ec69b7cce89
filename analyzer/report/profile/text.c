/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/format.h"
#include "profile/group.h"
#include "report/profile/application.h"
#include "report/profile/columns.h"
#include "report/profile/facts.h"
#include "report/profile/processes.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * The text for people: what was recorded, and a table of methods for each group
 * of --by.
 */

enum { NANOSECONDS = 1000000000, APPLICATION_ROWS = 10 };
enum { LEAST = 500000 }; /* nanoseconds: less is printed as 0.000 s */

static double seconds(uint64_t nanoseconds)
{
	return (double)nanoseconds / NANOSECONDS;
}

static void write_fact(const struct rcore_profile_report *report, enum rcore_side side,
		       const char *key, const char *before, FILE *out)
{
	const char *value = rcore_facts_find(report->facts[side], key);
	if (value && value[0])
		fprintf(out, "%s%s", before, value);
}

static bool is_of_system_calls(const struct rcore_profile_report *report, enum rcore_side side)
{
	const char *event = rcore_facts_find(report->facts[side], "event");
	return event && strncmp(event, RCORE_EVENT_CALLS, strlen(RCORE_EVENT_CALLS)) == 0;
}

static void write_side(const struct rcore_profile_report *report, enum rcore_side side,
		       const char *title, FILE *out)
{
	const struct rcore_amounts *sum = &report->totals->sums[side];
	bool is_time = rcore_measure_words[report->measure].is_time;
	fputs(title, out);
	/* A recording that lost its first block lacks this fact. */
	if (!rcore_facts_find(report->facts[side], "ruby"))
		fputs("unknown program", out);
	write_fact(report, side, "ruby", "ruby ", out);
	write_fact(report, side, "pid", "  pid ", out);
	write_fact(report, side, "system", "  processes of this machine: ", out);
	write_fact(report, side, "command", "  ", out);
	fprintf(out, "\n%.2f s recorded", seconds(report->totals->durations[side]));
	if (report->measure == RCORE_MEASURE_OFF_CPU) {
		fprintf(out,
			"; threads left their processors %" PRIu64
			" time%s, for %.3f s in all\n",
			sum->count, rcore_plural(sum->count), seconds(sum->wall));
		return;
	}
	fprintf(out, ", %" PRIu64 " %s%s", sum->count, is_time ? "sample" : "call",
		rcore_plural(sum->count));
	if (!is_time) {
		write_fact(report, side, "event", " of ", out);
		if (is_of_system_calls(report, side))
			fprintf(out, ", which moved %" PRIu64 " byte%s", sum->wall,
				rcore_plural(sum->wall));
		fputc('\n', out);
		return;
	}
	write_fact(report, side, "rate", " at ", out);
	if (rcore_facts_find(report->facts[side], "rate"))
		fputs(" Hz", out);
	write_fact(report, side, "rejected", ", read again ", out);
	fprintf(out, "; %.3f s wall time of %s, %.3f s CPU time\n", seconds(sum->wall),
		rcore_facts_whose(report->facts[side]), seconds(sum->cpu));
	write_fact(report, side, "queued", "Threads waited for a processor for ", out);
	if (rcore_facts_find(report->facts[side], "queued"))
		fputs(" % of the time, so CPU times of methods may be wrong "
		      "(`rcore record --ebpf` measures them)\n",
		      out);
}

static void write_place(const struct rcore_profile *profile,
			const struct rcore_profile_function *function, FILE *out)
{
	const char *path = rcore_profile_text(profile, function->path);
	if (function->kind == RCORE_FUNCTION_C)
		fputs("  [C]", out);
	if (!path[0])
		return;
	fprintf(out, "  %s", path);
	if (function->first_line)
		fprintf(out, ":%u", function->first_line);
}

static void write_name(const struct rcore_profile_report *report, uint32_t number,
		       const char *nothing, FILE *out)
{
	const struct rcore_profile *profile = report->totals->profile;
	const struct rcore_profile_function *function =
		rcore_profile_function_at(profile, number);
	const char *label = rcore_profile_text(profile, function->label);
	fputs(!number ? nothing : label[0] ? label : "(unknown)", out);
	write_place(profile, function, out);
	putc('\n', out);
}

static void write_method(const struct rcore_profile_report *report,
			 const struct rcore_method *method, const uint64_t *whole,
			 uint64_t samples, FILE *out)
{
	if (report->is_diff) {
		rcore_column_change(report->measure, method->self, out);
		rcore_column_change(report->measure, method->total, out);
	}
	rcore_column_amount(report->measure, method->self[RCORE_SIDE_NEW], out);
	fprintf(out, " %5.1f%% ",
		rcore_percent(method->self[RCORE_SIDE_NEW], whole[RCORE_SIDE_NEW]));
	rcore_column_amount(report->measure, method->total[RCORE_SIDE_NEW], out);
	fprintf(out, " %5.1f%% %9.1f%%  ",
		rcore_percent(method->total[RCORE_SIDE_NEW], whole[RCORE_SIDE_NEW]),
		rcore_percent(method->samples[RCORE_SIDE_NEW], samples));
	write_name(report, method->function, "(no frames)", out);
}

static int64_t change(const struct rcore_method *method)
{
	int64_t difference =
		(int64_t)(method->self[RCORE_SIDE_NEW] - method->self[RCORE_SIDE_OLD]);
	return difference < 0 ? -difference : difference;
}

/* Orders by change, the largest first. */
static int compare_change(const void *a, const void *b)
{
	int64_t x = change(a), y = change(b);
	return (x < y) - (x > y);
}

/* Whether an amount is printed as zero on each side. */
static bool is_zero(const struct rcore_profile_report *report, const uint64_t *amounts)
{
	uint64_t least = rcore_measure_words[report->measure].is_time ? LEAST : 1;
	return amounts[RCORE_SIDE_NEW] < least && amounts[RCORE_SIDE_OLD] < least;
}

/* How many methods a table shows, and how many it leaves out. */
struct rows {
	size_t shown, more;
	size_t zeroes; /* left out, because their rows would show only zeroes */
};

/* Moves the methods to be shown to the front. */
static struct rows sort_and_cut(const struct rcore_profile_report *report,
				struct rcore_methods *methods, size_t limit, bool only_self)
{
	struct rows rows = {0};
	if (report->is_diff)
		qsort(methods->items, methods->count, sizeof(*methods->items), compare_change);
	for (size_t i = 0; i < methods->count; i++) {
		const struct rcore_method *method = &methods->items[i];
		if (report->rows && is_zero(report, method->self) &&
		    (only_self || is_zero(report, method->total)))
			rows.zeroes++;
		else
			methods->items[rows.shown++] = *method;
	}
	if (report->rows && rows.shown > limit) {
		rows.more = rows.shown - limit;
		rows.shown = limit;
	}
	return rows;
}

/* `own` is " of their own", or "" if the total counts. */
static void write_zeroes(const struct rcore_profile_report *report, size_t zeroes,
			 const char *of, const char *own, FILE *out)
{
	if (zeroes)
		fprintf(out, "%zu %s%s with %s%s left out (--all shows each)\n", zeroes, of,
			rcore_plural(zeroes),
			rcore_measure_words[report->measure].is_time ? "less than 0.0005 s"
								     : "0",
			own);
}

static void write_rest(const struct rcore_profile_report *report, const struct rows *rows,
		       const char *own, FILE *out)
{
	if (rows->more)
		fprintf(out, "... and %zu more\n", rows->more);
	write_zeroes(report, rows->zeroes, "method", own, out);
}

/*
 * Who waits or computes in a library does so for a method of the application,
 * and only that has a name that the reader knows. `owners` is that of
 * rcore_application_owners().
 */
static struct rcore_error *write_application(const struct rcore_profile_report *report,
					     const struct rcore_methods_group *group,
					     const uint32_t *owners, FILE *out)
{
	bool is_time = rcore_measure_words[report->measure].is_time;
	struct rcore_methods methods;
	struct rcore_error *err =
		rcore_owners_init(report->totals, report->measure, group, owners, &methods);
	if (err)
		return err;
	struct rows rows = {0};
	if (methods.count > 1 || (methods.count && methods.items[0].function))
		rows = sort_and_cut(report, &methods, APPLICATION_ROWS, true);
	if (rows.shown)
		fprintf(out, "%s%9s %6s  innermost method of the application\n",
			report->is_diff ? "  +change " : "", is_time ? "time s" : "number", "");
	for (size_t i = 0; i < rows.shown; i++) {
		const uint64_t *amounts = methods.items[i].self;
		if (report->is_diff)
			rcore_column_change(report->measure, amounts, out);
		rcore_column_amount(report->measure, amounts[RCORE_SIDE_NEW], out);
		fprintf(out, " %5.1f%%  ",
			rcore_percent(amounts[RCORE_SIDE_NEW], methods.whole[RCORE_SIDE_NEW]));
		write_name(report, methods.items[i].function, "(none)", out);
	}
	if (rows.shown) {
		write_rest(report, &rows, "", out);
		putc('\n', out);
	}
	rcore_methods_deinit(&methods);
	return NULL;
}

static struct rcore_error *write_table(const struct rcore_profile_report *report,
				       const struct rcore_methods_group *group, FILE *out)
{
	bool is_time = rcore_measure_words[report->measure].is_time;
	struct rcore_methods methods;
	struct rcore_error *err =
		rcore_methods_init(report->totals, report->measure, group, &methods);
	if (err)
		return err;
	/*
	 * Callers without time of their own are mostly the same in each group,
	 * such as those of a server. Only innermost frames make system calls,
	 * so for these, the callers are what the user wants to see.
	 */
	bool only_self = group->is_one && is_time;
	struct rows rows = sort_and_cut(report, &methods, report->rows, only_self);
	fprintf(out, "%s%9s %6s %9s %6s %10s  %s\n",
		report->is_diff ? "    +self    +total " : "", is_time ? "self s" : "self", "",
		is_time ? "total s" : "total", "", "residency", "method");
	for (size_t i = 0; i < rows.shown; i++)
		write_method(report, &methods.items[i], methods.whole,
			     methods.samples[RCORE_SIDE_NEW], out);
	write_rest(report, &rows, only_self ? " of their own" : "", out);
	rcore_methods_deinit(&methods);
	return NULL;
}

static struct rcore_error *write_tables(const struct rcore_profile_report *report,
					const struct rcore_methods_group *group,
					const uint32_t *owners, FILE *out)
{
	struct rcore_error *err = write_application(report, group, owners, out);
	return err ? err : write_table(report, group, out);
}

/*
 * Moves the group of samples without the label to the end: those of a server
 * are mostly threads that wait for a request, and have the most time.
 */
static void put_unlabelled_last(const struct rcore_totals *totals, struct rcore_methods *groups)
{
	const struct rcore_profile *profile = totals->profile;
	char name[RCORE_GROUP_NAME];
	rcore_group_unlabelled(totals->options.by_label, name);
	for (size_t i = 0; i + 1 < groups->count; i++) {
		const struct rcore_method group = groups->items[i];
		const struct rcore_profile_function *function =
			rcore_profile_function_at(profile, group.function);
		if (strcmp(rcore_profile_text(profile, function->label), name) != 0)
			continue;
		memmove(&groups->items[i], &groups->items[i + 1],
			(groups->count - i - 1) * sizeof(group));
		groups->items[groups->count - 1] = group;
		return;
	}
}

/* Orders groups by time, the longest first. */
static struct rcore_error *write_groups(const struct rcore_profile_report *report,
					const uint32_t *owners, FILE *out)
{
	struct rcore_methods groups;
	struct rcore_error *err = rcore_groups_init(report->totals, report->measure, &groups);
	size_t zeroes = 0;
	if (report->totals->options.by == RCORE_BY_LABEL)
		put_unlabelled_last(report->totals, &groups);
	for (size_t i = 0; i < groups.count && !err; i++) {
		const struct rcore_methods_group group = {.is_one = true,
							  .function = groups.items[i].function};
		if (report->rows && is_zero(report, groups.items[i].total)) {
			zeroes++;
			continue;
		}
		const struct rcore_profile_function *function =
			rcore_profile_function_at(report->totals->profile, group.function);
		fprintf(out, "\n%s  ",
			rcore_profile_text(report->totals->profile, function->label));
		rcore_measure_write(report->measure, groups.items[i].total[RCORE_SIDE_NEW],
				    out);
		fprintf(out, " (%.1f%%)\n",
			rcore_percent(groups.items[i].total[RCORE_SIDE_NEW],
				      groups.whole[RCORE_SIDE_NEW]));
		err = write_tables(report, &group, owners, out);
	}
	if (zeroes)
		putc('\n', out);
	write_zeroes(report, zeroes, "group", "", out);
	rcore_methods_deinit(&groups);
	return err;
}

struct rcore_error *rcore_profile_text_report(const struct rcore_profile_report *report,
					      FILE *out)
{
	const struct rcore_methods_group all = {0};
	write_side(report, RCORE_SIDE_NEW, report->is_diff ? "new: " : "", out);
	if (report->is_diff)
		write_side(report, RCORE_SIDE_OLD,
			   "old, scaled to the time of the new one: ", out);
	for (size_t i = 0; i < report->note_count; i++)
		fprintf(out, "note: %s\n", report->notes[i]);
	fprintf(out,
		rcore_measure_words[report->measure].is_time ? "Times are %ss\n"
							     : "Numbers are %s\n",
		rcore_measure_words[report->measure].title);
	struct rcore_error *err = rcore_profile_text_processes(report, out);
	if (err)
		return err;
	uint32_t *owners = rcore_application_owners(report->totals->profile);
	if (!owners) {
		err = rcore_error_no_memory();
	} else if (report->totals->options.by == RCORE_BY_NOTHING) {
		putc('\n', out);
		err = write_tables(report, &all, owners, out);
	} else {
		err = write_groups(report, owners, out);
	}
	free(owners);
	return err ? err : rcore_pen_error(out);
}
