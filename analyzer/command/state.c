/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	struct rcore_report_options report;
	struct rcore_words where, fibers;
	bool json, lines;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "As JSON"},
	{"where", 'w', RCORE_OPTION_LIST, MEMBER(where), "KEY=VALUE",
	 "Only fibers whose context has KEY with that VALUE (KEY alone: with any); may be "
	 "given again",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(report.all),
	 .help = "Fibers without a context too"},
	{"stacks", 's', RCORE_OPTION_FLAG, MEMBER(report.stacks),
	 .help = "Each with its stack, Ruby and native in one, as a debugger's ruby-state has "
		 "them"},
	{"lines", 'l', RCORE_OPTION_FLAG, MEMBER(lines),
	 .help = "Each on a line, as the shell's rcore state has them"},
	RCORE_OPTION_ONE_THREAD(MEMBER(report.thread)),
	RCORE_OPTION_ONE_FIBER(MEMBER(report.fiber)),
	{0},
};

/* Whoever is named is shown with all there is. */
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
	const struct rcore_words *fibers = &arguments->fibers;
	struct rcore_report_options report = arguments->report;
	const struct rcore_snapshot *snapshot;
	report.color = view->color;
	report.where = arguments->where.items;
	report.where_count = arguments->where.count;
	report.stacks = has_stacks(arguments);
	if (arguments->json && fibers->count > 1)
		return rcore_error_create(RCORE_ERROR_USAGE, "--json takes one fiber");
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
	.summary = "each fiber's context",
	.doc = "Show for whom each fiber works: the key/value pairs that the gem ruby-profiler "
	       "keeps on it, of parked fibers too: in the shell one fiber a line, in a "
	       "debugger each next to its stack. Fibers that are named are shown with their "
	       "stacks anywhere.",
	.words = "[FIBER...]",
	.words_offset = MEMBER(fibers),
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
