/* SPDX-License-Identifier: MIT */
#include "command/limits.h"
#include "command/list.h"
#include "command/output.h"
#include "report/formats.h"
#include "session/inputs.h"

struct arguments {
	struct rcore_report_options report;
	struct rcore_locals_options values;
	struct rcore_limits limits;
	int native, merge;
	bool json;
	int format;
	struct rcore_strings outputs;
	struct rcore_strings where;
};

static const char *const merge_names[] = {"same", "similar", NULL};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Same as --format=json"},
	{"format", 0, RCORE_OPTION_CHOICE, MEMBER(format), "FORMAT", rcore_format_help,
	 rcore_format_names, .completion = RCORE_COMPLETE_NOTHING,
	 .is_document = rcore_format_is_document},
	{"output", 'o', RCORE_OPTION_LIST, MEMBER(outputs), "FILE", rcore_format_output_help,
	 .completion = RCORE_COMPLETE_FILE, .writes = true},
	{"source-root", 0, RCORE_OPTION_TEXT, MEMBER(report.source_root), "DIR",
	 "Print paths in formats of CI systems relative to DIR, a path of the target",
	 .completion = RCORE_COMPLETE_FILE},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(report.all),
	 .help = "Print every fiber and every frame; merge and omit nothing"},
	{"merge", 0, RCORE_OPTION_CHOICE, MEMBER(merge), "WHICH",
	 "Print a stack once for all threads and fibers that share it: the same stack (the "
	 "default), or also similar stacks, which differ only in the line of the innermost "
	 "frame or in the depth of a recursion",
	 merge_names, .completion = RCORE_COMPLETE_NOTHING},
	RCORE_OPTION_NATIVE(MEMBER(native)),
	RCORE_OPTION_ONE_THREAD(MEMBER(report.thread)),
	RCORE_OPTION_ONE_FIBER(MEMBER(report.fiber)),
	{"self", 0, RCORE_OPTION_FLAG, MEMBER(values.self), .help = "Print self of each frame"},
	{"args", 0, RCORE_OPTION_FLAG, MEMBER(values.arguments),
	 .help = "Print the arguments of each frame"},
	{"locals", 0, RCORE_OPTION_FLAG, MEMBER(values.locals),
	 .help = "Print the arguments and local variables of each frame, including those of "
		 "enclosing blocks (--all: also those that Ruby hides)"},
	RCORE_OPTIONS_OF_LIMITS(MEMBER(limits), "1000"),
	{"where", 'w', RCORE_OPTION_LIST, MEMBER(where), "KEY=VALUE",
	 "Print only fibers whose context has KEY with this VALUE, or KEY alone with any "
	 "value. Can be repeated",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"verbose", 'v', RCORE_OPTION_FLAG, MEMBER(report.verbose),
	 .help = "Also print addresses, and how rcore found what it prints"},
	{0},
};

static void prepare(const void *given, struct rcore_options *open)
{
	const struct arguments *arguments = given;
	open->no_native = (enum rcore_native_shown)arguments->native == RCORE_NATIVE_NONE;
	open->merge_similar = arguments->merge != 0;
	open->values = arguments->values;
	open->values.inspect = rcore_limits_inspect(&arguments->limits);
}

static struct rcore_error *print(const struct arguments *arguments,
				 const struct rcore_inputs *inputs,
				 const struct rcore_snapshot *snapshot,
				 const struct rcore_report_options *report, FILE *out)
{
	const struct rcore_format *format = arguments->json ? rcore_format_named("json")
							    : &rcore_formats[arguments->format];
	struct rcore_error *err =
		rcore_outputs_write(&arguments->outputs, inputs, snapshot, report);
	if (err || (arguments->outputs.count && format == rcore_formats))
		return err;
	return format->write(snapshot, report, out);
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct rcore_report_options report = arguments->report;
	const struct rcore_snapshot *snapshot;
	struct rcore_error *failure;
	report.color = view->color;
	report.where = arguments->where.items;
	report.where_count = arguments->where.count;
	report.native = (enum rcore_native_shown)arguments->native;
	const struct rcore_inputs *inputs;
	struct rcore_error *err = rcore_session_inputs(view->session, &inputs);
	if (!err)
		err = rcore_outputs_check(&arguments->outputs, inputs);
	if (!err)
		err = rcore_view_load(view, &snapshot, &failure);
	view->tells_gaps = true;
	if (err)
		return err;
	err = print(arguments, inputs, snapshot, &report, out);
	if (!err)
		return failure;
	rcore_error_free(failure);
	return err;
}

const struct rcore_command rcore_command_analyze = {
	.name = "analyze",
	.verb = "fibers",
	.summary = "why it died, and every stack",
	.doc = "Print why a Ruby process died, or what it is doing now: every thread, fiber "
	       "and frame, with Ruby and native frames in one stack.",
	.options = options,
	.size = sizeof(struct arguments),
	.examples = (const char *const[]){"", "--fiber T1.F3 --native=all", "--thread T2 --all",
					  "--fiber T1.F0 --self --locals", NULL},
	.shell_examples =
		(const char *const[]){
			"rcore analyze --sysroot /srv/container core.1234",
			"rcore analyze -p 1234", "rcore analyze core.1234 -o report.html",
			"rcore analyze core.1234 -o report.md -o report.sarif",
			"rcore analyze --json core.1234 | jq '.threads[].status'", NULL},
	.prepare = prepare,
	.run = run,
};
