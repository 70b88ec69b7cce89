/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/list.h"
#include "report/text/converted.h"
#include "session/inputs.h"

struct arguments {
	bool fibers_as_threads;
	const char *output;
};

static const struct rcore_option options[] = {
	{
		.name = "fibers-as-threads",
		.offset = offsetof(struct arguments, fibers_as_threads),
		.help = "Make each parked fiber a thread that any debugger can list and "
			"backtrace",
	},
	{
		.name = "output",
		.letter = 'o',
		.kind = RCORE_OPTION_TEXT,
		.offset = offsetof(struct arguments, output),
		.writes = true,
		.value = "OUT",
		.help = "Write the new core to OUT; the original does not change",
		.completion = RCORE_COMPLETE_FILE,
	},
	{0},
};

static void prepare(const void *arguments, struct rcore_options *ret)
{
	ret->no_native = true;
}

static struct rcore_error *check(const struct arguments *arguments)
{
	if (!arguments->fibers_as_threads)
		return rcore_error_create(RCORE_ERROR_USAGE, "missing --fibers-as-threads");
	if (!arguments->output)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "missing output; name the new core with -o OUT");
	return NULL;
}

static struct rcore_error *run(struct rcore_view *view, const void *opaque, FILE *out)
{
	const struct arguments *arguments = opaque;
	struct rcore_snapshot *snapshot;
	struct rcore_converted *rows;
	size_t count;
	struct rcore_error *err = check(arguments);
	if (!err)
		err = rcore_session_check_output(view->session, arguments->output);
	if (!err)
		err = rcore_load(view->session, &snapshot);
	if (err)
		return err;
	err = rcore_convert_fibers(view->session, snapshot, arguments->output, &rows, &count);
	rcore_view_print(view);
	if (!err) {
		const struct rcore_report_options report = {.color = view->color};
		rcore_view_note_gaps(view, snapshot);
		for (size_t i = 0; i < count; i++)
			view->is_partial |= !rows[i].tid;
		err = rcore_report_converted(snapshot, arguments->output, rows, count, &report,
					     out);
		free(rows);
	}
	rcore_snapshot_free(snapshot);
	return err;
}

const struct rcore_command rcore_command_convert = {
	.name = "convert",
	.topic = RCORE_TOPIC_CORES,
	.summary = "write a core in which each fiber is a thread",
	.doc = "Write a core of the same memory in which each parked fiber is a thread. gdb "
	       "and lldb can then list and backtrace all fibers without any plugin (`thread "
	       "apply all bt`). Also print which LWP is which fiber: T2.F13 is LWP "
	       "20000013. A parked fiber has the registers that Ruby saved; the others read as "
	       "0. To convert a running process, write its core with gcore first.",
	.options = options,
	.size = sizeof(struct arguments),
	.is_for_cores = true,
	.without = RCORE_WITHOUT_RECOGNIZERS,
	.examples =
		(const char *const[]){"--fibers-as-threads -o core.fibers",
				      "--fibers-as-threads -o core.fibers --sysroot /srv/app",
				      NULL},
	.shell_examples = (const char *const[]){"gdb /usr/bin/ruby core.fibers", NULL},
	.exit_status = "Exit status: 0 each parked fiber is a thread; 1 some are not, or not "
		       "everything could be decoded; 2 nothing was written; 3 not a Ruby "
		       "process; 64 wrong usage.",
	.prepare = prepare,
	.run = run,
};
