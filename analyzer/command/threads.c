/* SPDX-License-Identifier: MIT */
#include "command/list.h"

static const struct rcore_option options[] = {
	RCORE_OPTION_ONE_THREAD(offsetof(struct rcore_report_options, thread)),
	{"verbose", 'v', RCORE_OPTION_FLAG, offsetof(struct rcore_report_options, verbose),
	 .help = "Also print addresses"},
	{0},
};

static void prepare(const void *arguments, struct rcore_options *open)
{
	open->no_native = true;
}

static struct rcore_error *run(struct rcore_view *view, const void *arguments, FILE *out)
{
	struct rcore_report_options report = *(const struct rcore_report_options *)arguments;
	const struct rcore_snapshot *snapshot;
	report.color = view->color;
	report.no_stacks = true;
	view->tells_gaps = true;
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	return err ? err : rcore_report_text(snapshot, &report, out);
}

const struct rcore_command rcore_command_threads = {
	.name = "threads",
	.verb = "threads",
	.summary = "the threads, one per line",
	.doc = "List the Ruby threads of a process: the id, the kernel thread, the name, the "
	       "status and the number of fibers. Also list the kernel threads that run no "
	       "Ruby. The thread that died comes first, then the one that holds the GVL, those "
	       "that hold what others wait for, those that are blocked, all others, and idle "
	       "ones last.",
	.options = options,
	.size = sizeof(struct rcore_report_options),
	.without = RCORE_WITHOUT_EXACT | RCORE_WITHOUT_RECOGNIZERS,
	.examples = (const char *const[]){"", "--thread T2 --verbose", NULL},
	.prepare = prepare,
	.run = run,
};
