/* SPDX-License-Identifier: MIT */
#include "report/text/process/text_exceptions.h"

#include "base/text.h"
#include "report/names.h"

enum { INDENT = 4, SHOWN = 5 /* lines of a backtrace */ };

static void print_location(const struct rcore_pen *pen,
			   const struct rcore_backtrace_location *location)
{
	FILE *out = pen->out;
	fprintf(out, "%*s", INDENT + 6, "");
	if (location->text)
		rcore_escape_write(out, location->text);
	if (location->path) {
		rcore_escape_write(out, location->path);
		if (location->line)
			fprintf(out, ":%d", location->line);
	}
	if (location->label) {
		fputs(location->path ? ":in '" : "'", out);
		rcore_escape_write(out, location->label);
		putc('\'', out);
	}
	rcore_style_problem(pen, location->problem);
	putc('\n', out);
}

static void print_backtrace(const struct rcore_pen *pen,
			    const struct rcore_exception *exception, bool all)
{
	char number[RCORE_COUNT_SIZE];
	size_t shown = exception->location_count;
	if (!all && shown > SHOWN + 1)
		shown = SHOWN;
	for (size_t i = 0; i < shown; i++)
		print_location(pen, &exception->backtrace[i]);
	size_t left = exception->location_count - shown + exception->left_out;
	if (!left)
		return;
	rcore_styled(pen, RCORE_STYLE_QUIET, "%*s... and %s more%s", INDENT + 6, "",
		     rcore_count_text(left, number), all ? "" : " (--all shows them)");
	putc('\n', pen->out);
}

static void print_one(const struct rcore_pen *pen, const struct rcore_exception *exception,
		      const char *what, bool all)
{
	FILE *out = pen->out;
	fprintf(out, "%*s%s ", INDENT, "", what);
	rcore_styled_text(pen, RCORE_STYLE_CAUSE,
			  exception->class_name ? exception->class_name : "(class unknown)");
	if (exception->message && !rcore_same_text(exception->message, exception->class_name)) {
		fputs(": ", out);
		rcore_escape_write(out, exception->message);
	}
	if (exception->frame >= 0)
		rcore_styled(pen, RCORE_STYLE_QUIET, "  (in frame %d)", exception->frame);
	rcore_style_problem(pen, exception->problem);
	putc('\n', out);
	print_backtrace(pen, exception, all);
	if (exception->is_ring)
		fprintf(out, "%*scaused by one of the exceptions above\n", INDENT + 2, "");
}

/* Whether it is among the causes of one of the first `count`. */
static bool was_shown(const struct rcore_fiber *fiber, size_t count, uint64_t object)
{
	for (size_t i = 0; i < count; i++)
		for (const struct rcore_exception *cause = fiber->exceptions[i].cause; cause;
		     cause = cause->cause)
			if (cause->object == object)
				return true;
	return false;
}

void rcore_text_exceptions(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			   bool all)
{
	for (size_t i = 0; i < fiber->exception_count; i++) {
		const struct rcore_exception *exception = &fiber->exceptions[i];
		if (was_shown(fiber, i, exception->object))
			continue;
		print_one(pen, exception, i ? "within the handling of" : "handling", all);
		while ((exception = exception->cause))
			print_one(pen, exception, "  caused by", all);
	}
}
