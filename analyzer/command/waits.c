/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	struct rcore_report_options report;
	bool json;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
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
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	if (err)
		return err;
	return arguments->json ? rcore_report_waits_json(snapshot, &report, out)
			       : rcore_report_waits(snapshot, &report, out);
}

const struct rcore_command rcore_command_waits = {
	.name = "waits",
	.verb = "waits",
	.summary = "what each thread and fiber waits for, who holds which lock, and deadlocks",
	.doc = "Print what each thread and fiber waits for: a Mutex or Monitor and who holds "
	       "it, a Queue, a ConditionVariable, another thread, a file descriptor, a child "
	       "process, the GVL. Print deadlocks, too. The words in brackets name the "
	       "evidence.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_RECOGNIZERS,
	.examples = (const char *const[]){"", "--thread T2", "--json", NULL},
	.shell_examples =
		(const char *const[]){"rcore waits -p 1234",
				      "rcore waits --json core.1234 | jq '.deadlocks[].text'",
				      NULL},
	.prepare = prepare,
	.run = run,
};
