/* SPDX-License-Identifier: MIT */
#include "command/limits.h"
#include "command/list.h"
#include "report/pick.h"

struct arguments {
	struct rcore_report_options report;
	struct rcore_index frame;
	struct rcore_limits limits;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"fiber", 0, RCORE_OPTION_TEXT, MEMBER(report.fiber), "F",
	 "Choose a frame of this fiber: its id (T1.F3), or its Fiber VALUE or rb_fiber_t in "
	 "hex",
	 .completion = RCORE_COMPLETE_FIBER},
	{"thread", 0, RCORE_OPTION_TEXT, MEMBER(report.thread), "T",
	 "Choose a frame of the fiber that this thread runs",
	 .completion = RCORE_COMPLETE_THREAD},
	{"frame", 0, RCORE_OPTION_INDEX, MEMBER(frame), .value = "N",
	 .help = "Choose the Ruby frame with this number (default: the innermost frame of Ruby "
		 "code)"},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(report.all),
	 .help = "Also print the variables that Ruby hides"},
	RCORE_OPTIONS_OF_LIMITS(MEMBER(limits), "1000"),
	{0},
};

static void prepare(const void *given, struct rcore_options *open)
{
	const struct arguments *arguments = given;
	open->no_native = true;
	open->values = (struct rcore_locals_options){
		.self = true,
		.arguments = true,
		.locals = true,
		.inspect = rcore_limits_inspect(&arguments->limits),
	};
}

static long innermost(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (fiber->frames[i].kind == RCORE_FRAME_RUBY)
			return (long)i;
	return 0;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct rcore_report_options report = arguments->report;
	const struct rcore_snapshot *snapshot;
	int fiber = -1;
	report.color = view->color;
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	if (!err)
		err = rcore_pick_one_fiber(snapshot, &report, &fiber);
	if (err)
		return err;
	long frame = arguments->frame.is_given ? (long)arguments->frame.number
					       : innermost(&snapshot->fibers[fiber]);
	return rcore_report_stack(snapshot, &report, frame, out);
}

const struct rcore_command rcore_command_locals = {
	.name = "locals",
	.verb = "locals",
	.summary = "self, arguments and locals of one frame",
	.doc = "Print self, the arguments and the local variables of one Ruby frame, including "
	       "those of enclosing blocks. By default, this is the innermost frame of Ruby "
	       "code in the fiber that died, or otherwise in the main thread; in a debugger, "
	       "it is the selected frame.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_WATCH | RCORE_WITHOUT_RECOGNIZERS,
	.is_of_selection = true,
	.examples = (const char *const[]){"", "--fiber T1.F3 --frame 2", "--depth 1", NULL},
	.prepare = prepare,
	.run = run,
};
