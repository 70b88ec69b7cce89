/* SPDX-License-Identifier: MIT */
#include "command/list.h"

#define MEMBER(name) offsetof(struct rcore_report_options, name)

static const struct rcore_option options[] = {
	{"fiber", 0, RCORE_OPTION_TEXT, MEMBER(fiber), "F",
	 "Print the exception of this fiber: its id (T1.F3), or its Fiber VALUE or rb_fiber_t "
	 "in hex",
	 .completion = RCORE_COMPLETE_FIBER},
	{"thread", 0, RCORE_OPTION_TEXT, MEMBER(thread), "T",
	 "Print the exception of the fiber that this thread runs",
	 .completion = RCORE_COMPLETE_THREAD},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(all),
	 .help = "Print every line of the backtraces"},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	struct rcore_report_options report = *(const struct rcore_report_options *)given;
	const struct rcore_snapshot *snapshot;
	report.color = view->color;
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	return err ? err : rcore_report_exception(snapshot, &report, out);
}

const struct rcore_command rcore_command_exception = {
	.name = "exception",
	.verb = "exception",
	.summary = "the exception that one fiber is handling",
	.doc = "Print the exception that a fiber is handling ($!): its class, message, "
	       "backtrace and causes. By default, the fiber is the one that died or that of "
	       "the main thread; in a debugger, the selected fiber.",
	.options = options,
	.size = sizeof(struct rcore_report_options),
	.without = RCORE_WITHOUT_WATCH | RCORE_WITHOUT_RECOGNIZERS,
	.is_of_selection = true,
	.examples = (const char *const[]){"", "--fiber T1.F3 --all", NULL},
	.run = run,
};
