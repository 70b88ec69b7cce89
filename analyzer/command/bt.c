/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	struct rcore_report_options report;
	int native;
	struct rcore_index frame;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"fiber", 0, RCORE_OPTION_TEXT, MEMBER(report.fiber), "F",
	 "Print the stack of this fiber: its id (T1.F3), or its Fiber VALUE or rb_fiber_t in "
	 "hex",
	 .completion = RCORE_COMPLETE_FIBER},
	{"thread", 0, RCORE_OPTION_TEXT, MEMBER(report.thread), "T",
	 "Print the stack of the fiber that this thread runs",
	 .completion = RCORE_COMPLETE_THREAD},
	{"frame", 0, RCORE_OPTION_INDEX, MEMBER(frame), "N",
	 .help = "Print only the Ruby frame with this number"},
	RCORE_OPTION_NATIVE(MEMBER(native)),
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(report.all),
	 .help = "Print every frame; do not fold recursion"},
	{"verbose", 'v', RCORE_OPTION_FLAG, MEMBER(report.verbose),
	 .help = "Also print addresses"},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct rcore_report_options report = arguments->report;
	const struct rcore_snapshot *snapshot;
	report.color = view->color;
	report.native = (enum rcore_native_shown)arguments->native;
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	if (err)
		return err;
	return rcore_report_stack(
		snapshot, &report,
		arguments->frame.is_given ? (long)arguments->frame.number : -1, out);
}

const struct rcore_command rcore_command_bt = {
	.name = "bt",
	.verb = "bt",
	.summary = "the stack of one fiber",
	.doc = "Print one stack, with Ruby and native frames in one list. By default, this is "
	       "the stack of the fiber that died, or otherwise of the main thread. If a kernel "
	       "thread without Ruby died, it is that thread's native stack. In a debugger, it "
	       "is the stack of the selected fiber or thread.",
	.options = options,
	.size = sizeof(struct arguments),
	.is_of_selection = true,
	.examples =
		(const char *const[]){"", "--fiber T1.F3", "--thread T2 --native=all", NULL},
	.run = run,
};
