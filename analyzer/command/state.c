/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	struct rcore_report_options report;
	struct rcore_words where;
	bool json;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "As JSON"},
	{"where", 'w', RCORE_OPTION_LIST, MEMBER(where), "KEY=VALUE",
	 "Only fibers whose context has KEY with that VALUE (KEY alone: with any); may be "
	 "given "
	 "again",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(report.all),
	 .help = "Fibers without a context too"},
	RCORE_OPTION_ONE_THREAD(MEMBER(report.thread)),
	RCORE_OPTION_ONE_FIBER(MEMBER(report.fiber)),
	{0},
};

static void prepare(const void *arguments, struct rcore_options *open)
{
	open->no_native = true;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct rcore_report_options report = arguments->report;
	const struct rcore_snapshot *snapshot;
	report.color = view->color;
	report.where = arguments->where.items;
	report.where_count = arguments->where.count;
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	if (err)
		return err;
	return arguments->json ? rcore_report_state_json(snapshot, &report, out)
			       : rcore_report_state(snapshot, &report, out);
}

const struct rcore_command rcore_command_state = {
	.name = "state",
	.verb = "state",
	.summary = "each fiber's context, one a line",
	.doc = "Show for whom each fiber works: the key/value pairs that the gem ruby-profiler "
	       "keeps on it, of parked fibers too.",
	.options = options,
	.size = sizeof(struct arguments),
	.examples = (const char *const[]){"", "--where request_id=abc123", "--thread T2 --all",
					  NULL},
	.shell_examples = (const char *const[]){"rcore state -p 1234 --json | jq "
						"'.fibers[].context.pairs'",
						NULL},
	.prepare = prepare,
	.run = run,
};
