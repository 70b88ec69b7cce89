/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	struct rcore_report_options report;
	struct rcore_strings where, fibers;
	bool json, lines;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"where", 'w', RCORE_OPTION_LIST, MEMBER(where), "KEY=VALUE",
	 "Print only fibers whose context has KEY with this VALUE, or with any value if only "
	 "KEY is given. Can be repeated",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(report.all),
	 .help = "Also print fibers without a context"},
	{"stacks", 's', RCORE_OPTION_FLAG, MEMBER(report.stacks),
	 .help = "Print each fiber with its stack (the default of ruby-state in a debugger)"},
	{"lines", 'l', RCORE_OPTION_FLAG, MEMBER(lines),
	 .help = "Print each fiber on one line (the default in the shell)"},
	RCORE_OPTION_ONE_THREAD(MEMBER(report.thread)),
	RCORE_OPTION_ONE_FIBER(MEMBER(report.fiber)),
	{0},
};

/* If a thread or fiber is named, everything about it is shown. */
static bool has_stacks(const struct arguments *arguments)
{
	return !arguments->lines && !arguments->json &&
	       (arguments->report.stacks || arguments->fibers.count);
}

static void prepare(const void *given, struct rcore_options *open)
{
	open->no_native = !has_stacks(given);
}

static struct rcore_error *print(const struct arguments *arguments,
				 const struct rcore_snapshot *snapshot,
				 const struct rcore_report_options *report, FILE *out)
{
	return arguments->json ? rcore_report_state_json(snapshot, report, out)
			       : rcore_report_state(snapshot, report, out);
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_strings *fibers = &arguments->fibers;
	struct rcore_report_options report = arguments->report;
	const struct rcore_snapshot *snapshot;
	report.color = view->color;
	report.where = arguments->where.items;
	report.where_count = arguments->where.count;
	report.stacks = has_stacks(arguments);
	if (arguments->json && fibers->count > 1)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "--json prints one fiber; name one, or use --where");
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	if (!err && !fibers->count)
		err = print(arguments, snapshot, &report, out);
	for (size_t i = 0; i < fibers->count && !err; i++) {
		report.fiber = fibers->items[i];
		err = print(arguments, snapshot, &report, out);
	}
	return err;
}

const struct rcore_command rcore_command_state = {
	.name = "state",
	.verb = "state",
	.summary = "each fiber's context, and what it works on",
	.doc = "Print the context of each fiber, including parked ones: the key/value pairs "
	       "that the gem ruby-profiler stores in it. Also print the request, job, query or "
	       "test that the fiber works on. In the shell, print one fiber per line; in a "
	       "debugger, print each context next to the stack. Fibers that you name are "
	       "always printed with their stacks.",
	.words = "[FIBER...]",
	.operands_offset = MEMBER(fibers),
	.completion = RCORE_COMPLETE_FIBER,
	.in_debugger = "--stacks",
	.options = options,
	.size = sizeof(struct arguments),
	.examples = (const char *const[]){"", "T1.F3", "--where request_id=abc123",
					  "--lines --all", NULL},
	.shell_examples =
		(const char *const[]){
			"rcore state -p 1234 --json | jq '.fibers[].context.pairs'", NULL},
	.prepare = prepare,
	.run = run,
};
