/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/text/doctor.h"
#include "report/report.h"
#include "report/names.h"
#include "target/machine.h"

static void row(const struct rcore_pen *pen, const char *name, const char *text)
{
	fprintf(pen->out, "  %-9s ", name);
	rcore_escape_write(pen->out, text ? text : "unknown");
}

/* How the order of native and Ruby frames is known. */
static void print_activation(const struct rcore_pen *pen, const struct rcore_activation *known)
{
	static const char *const words[] = {
		[RCORE_ACTIVATION_SYMBOL] = "found by its symbol rb_vm_exec",
		[RCORE_ACTIVATION_CODE] = "found by the code that runs Ruby's instructions",
		[RCORE_ACTIVATION_STACKS] =
			"guessed, because it is the most frequent in the stacks",
	};
	if (known->source == RCORE_ACTIVATION_NOT_ASKED)
		return;
	if (known->source == RCORE_ACTIVATION_UNKNOWN)
		row(pen, "weaving",
		    "neither a symbol nor code shows which function runs Ruby code; native and "
		    "Ruby frames are listed separately unless the stacks show it");
	else
		fprintf(pen->out, "  %-9s 0x%" PRIx64 "  %s", "weaving", known->address,
			words[known->source]);
	putc('\n', pen->out);
}

/* Features that need one of these fail with an error; everything else works. */
static void print_unmeasured(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->unmeasured_count; i++)
		fprintf(pen->out, "%s%s",
			i ? ", " : "             not measured: ", snapshot->unmeasured[i]);
	if (snapshot->unmeasured_count)
		putc('\n', pen->out);
}

static void print_found(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	FILE *out = pen->out;
	rcore_styled_text(pen, RCORE_STYLE_ID, snapshot->source ? snapshot->source : "target");
	putc('\n', out);

	row(pen, "process", snapshot->arguments);
	if (snapshot->pid)
		fprintf(out, "  pid %d", snapshot->pid);
	if (rcore_machine_name(snapshot->machine))
		fprintf(out, "  %s", rcore_machine_name(snapshot->machine));
	if (snapshot->producer) {
		fputs("  core by ", out);
		rcore_escape_write(out, snapshot->producer);
	}
	putc('\n', out);

	row(pen, "ruby",
	    snapshot->ruby_description ? snapshot->ruby_description : snapshot->ruby_version);
	if (snapshot->version_source) {
		fputs("  from ", out);
		rcore_escape_write(out, snapshot->version_source);
	}
	putc('\n', out);

	row(pen, "layout", snapshot->layout_name);
	if (snapshot->layout_source) {
		fputs("  ", out);
		rcore_escape_write(out, snapshot->layout_source);
	}
	if (snapshot->layout_neighbour)
		fprintf(out, "; structs that its headers do not declare are those of %s",
			snapshot->layout_neighbour);
	putc('\n', out);

	rcore_write_shifts(snapshot, out);
	print_unmeasured(pen, snapshot);

	if (snapshot->vm)
		fprintf(out, "  %-9s 0x%" PRIx64 "  found %s\n", "VM", snapshot->vm,
			rcore_vm_method_text(snapshot->vm_found_by));
	else
		fprintf(out, "  %-9s not found\n", "VM");
	if (snapshot->fiber_source) {
		row(pen, "fibers", "from ");
		rcore_escape_write(out, snapshot->fiber_source);
		putc('\n', out);
	}
	print_activation(pen, &snapshot->activation);
}

static void print_proofs(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	if (!snapshot->proof_count)
		return;
	int columns = 0;
	for (size_t i = 0; i < snapshot->proof_count; i++)
		if ((int)strlen(snapshot->proofs[i].name) > columns)
			columns = (int)strlen(snapshot->proofs[i].name);
	fputs("\nChecks of the layout\n", pen->out);
	for (size_t i = 0; i < snapshot->proof_count; i++) {
		const struct rcore_proof *proof = &snapshot->proofs[i];
		rcore_styled(pen, proof->passed ? RCORE_STYLE_GOOD : RCORE_STYLE_CAUSE,
			     "  %-6s", proof->passed ? "ok" : "FAILED");
		fprintf(pen->out, "  %-*s", columns, proof->name);
		if (proof->text) {
			fputs("  ", pen->out);
			rcore_escape_write(pen->out, proof->text);
		}
		if (proof->detail) {
			fputs(": ", pen->out);
			rcore_styled_text(pen, RCORE_STYLE_PROBLEM, proof->detail);
		}
		putc('\n', pen->out);
	}
}

static void print_verdict(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot,
			  const struct rcore_error *error)
{
	fputs("\n", pen->out);
	for (size_t i = 0; i < snapshot->problem_count; i++) {
		rcore_styled_text(pen, RCORE_STYLE_PROBLEM, snapshot->problems[i]);
		putc('\n', pen->out);
	}
	if (error)
		rcore_styled_text(pen, RCORE_STYLE_CAUSE, error->message);
	else if (rcore_same_text(snapshot->layout_source, "approximate"))
		rcore_styled_text(
			pen, RCORE_STYLE_PROBLEM,
			"Ready to analyze, with an approximate layout: details may be wrong");
	else
		rcore_styled_text(pen, RCORE_STYLE_GOOD, "Ready to analyze");
	putc('\n', pen->out);
}

struct rcore_error *rcore_report_doctor(const struct rcore_snapshot *snapshot,
					const struct rcore_error *error,
					const struct rcore_report_options *options, FILE *out)
{
	struct rcore_pen pen = {.out = out, .color = options && options->color};
	print_found(&pen, snapshot);
	print_proofs(&pen, snapshot);
	rcore_doctor_modules(&pen, snapshot);
	print_verdict(&pen, snapshot, error);
	return rcore_pen_error(out);
}
