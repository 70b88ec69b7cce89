/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/signal_name.h"
#include "base/text.h"
#include "report/text/process/cause_lines.h"
#include "report/redaction.h"
#include "report/text/text.h"
#include "report/text/text_triage.h"
#include "report/text/process/text_waits.h"
#include "report/names.h"

static void print_target(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	FILE *out = text->pen.out;
	rcore_styled_text(&text->pen, RCORE_STYLE_ID,
			  snapshot->source ? snapshot->source : "target");
	/* The running VM's description says what is enabled: "+YJIT". */
	const char *description = snapshot->facts.description ? snapshot->facts.description
							      : snapshot->ruby_description;
	if (description) {
		fputs("  ", out);
		rcore_escape_write(out, description);
	} else if (snapshot->ruby_version) {
		fputs("  ruby ", out);
		rcore_escape_write(out, snapshot->ruby_version);
	}
	/* The name of a running process is its pid. */
	if (snapshot->pid && !(snapshot->live.present && !snapshot->producer))
		fprintf(out, "  pid %d", snapshot->pid);
	if (snapshot->live.inner_pid)
		fprintf(out, "  (pid %d in its container)", snapshot->live.inner_pid);
	if (snapshot->arguments) {
		fputs("  ", out);
		rcore_escape_write(out, snapshot->arguments);
	}
	putc('\n', out);
}

static void print_live(const struct rcore_text *text)
{
	if (text->snapshot->live.stopped) {
		fputs("Alive: one moment of a running process\n", text->pen.out);
		return;
	}
	rcore_styled(&text->pen, RCORE_STYLE_PROBLEM,
		     "Alive, and read without stopping it (--no-stop): Ruby frames only, and "
		     "they may not fit together\n");
}

static void print_cause_line(void *out, const char *line)
{
	fprintf(out, "%s\n", line);
}

static void print_cause(const struct rcore_text *text)
{
	const struct rcore_cause *cause = &text->snapshot->cause;
	char name[RCORE_SIGNAL_SIZE];
	FILE *out = text->pen.out;
	if (text->snapshot->live.present) {
		print_live(text);
		return;
	}
	if (!cause->present && text->snapshot->is_debugged) {
		fputs("Alive: a debugger has stopped it\n", out);
		return;
	}
	if (!cause->present) {
		fputs(text->snapshot->producer ? "No fatal signal recorded: the process was "
						 "alive when this was taken\n"
					       : "No fatal signal recorded\n",
		      out);
		return;
	}
	rcore_style(&text->pen, RCORE_STYLE_CAUSE);
	if (cause->text)
		rcore_escape_write(out, cause->text);
	else
		fprintf(out, "Killed by %s", rcore_signal_name(cause->signo, name));
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
	putc('\n', out);
	rcore_cause_lines(cause, print_cause_line, out);
}

static void print_approximate(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	rcore_style(&text->pen, RCORE_STYLE_PROBLEM);
	if (snapshot->layout_neighbour && !snapshot->shift_count)
		fprintf(text->pen.out,
			"Approximate: the layout of %s was made from headers; structs that "
			"they do not declare (fibers, the object heap) are those of %s. They "
			"passed the checks, but details may be wrong\n",
			snapshot->layout_name, snapshot->layout_neighbour);
	else
		fprintf(text->pen.out,
			"Approximate: there is no layout for exactly this Ruby; that of %s "
			"passed the checks, but details may be wrong\n",
			snapshot->layout_name ? snapshot->layout_name : "another release");
	rcore_write_shifts(snapshot, text->pen.out);
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
}

static void print_aged(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t count = 0;
	uint64_t age = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		count += snapshot->fibers[i].stack_age_ns != 0;
		if (snapshot->fibers[i].stack_age_ns > age)
			age = snapshot->fibers[i].stack_age_ns;
	}
	if (count)
		fprintf(text->pen.out,
			"The stacks of %zu parked fiber%s are as of %.1f ms before the stop; "
			"use --exact to copy them during it\n",
			count, rcore_plural(count), (double)age / 1e6);
}

static void print_how(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	FILE *out = text->pen.out;
	rcore_style(&text->pen, RCORE_STYLE_QUIET);
	if (snapshot->live.stopped)
		fprintf(out, "Stopped: %zu kernel thread%s, for %.2f ms\n",
			snapshot->live.thread_count, rcore_plural(snapshot->live.thread_count),
			(double)snapshot->live.pause_ns / 1e6);
	if (snapshot->vm)
		fprintf(out, "VM 0x%" PRIx64 ", found %s\n", snapshot->vm,
			rcore_vm_method_text(snapshot->vm_found_by));
	if (snapshot->layout_name)
		fprintf(out, "Layout %s, %s\n", snapshot->layout_name,
			snapshot->layout_source ? snapshot->layout_source : "source unknown");
	if (snapshot->fiber_source)
		fprintf(out, "Fibers found by: %s\n", snapshot->fiber_source);
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
}

void rcore_text_header(const struct rcore_text *text)
{
	const char *layout = text->snapshot->layout_source;
	print_target(text);
	print_cause(text);
	if (text->snapshot->cause.present) {
		rcore_text_blame(&text->pen, text->snapshot);
		rcore_text_signature(&text->pen, text->snapshot);
	}
	rcore_text_deadlocks(&text->pen, text->snapshot);
	rcore_text_summary(&text->pen, text->snapshot);
	if (rcore_same_text(layout, "approximate"))
		print_approximate(text);
	print_aged(text);
	rcore_text_left_out(text);
	rcore_text_facts(text);
	rcore_text_redaction(&text->pen, &text->snapshot->redaction);
	if (text->options.verbose)
		print_how(text);
}
