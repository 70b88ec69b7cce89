/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/target.h"

struct arguments {
	struct rcore_cli_target target;
	struct rcore_report_options report;
	bool json;
};

enum { KEY_THREAD = 0x200, KEY_FIBER, KEY_NATIVE };

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "The whole as JSON", 0},
	{"all", 'a', NULL, 0,
	 "Each fiber and each frame: nothing merged, no repetition left out", 0},
	{"native", KEY_NATIVE, "WHICH", 0,
	 "Native frames: all, fold (those of the interpreter as a count; the default), none",
	 0},
	{"thread", KEY_THREAD, "T", 0,
	 "Only this thread: its id (T2), its kernel thread id, its Thread VALUE or rb_thread_t "
	 "in "
	 "hex",
	 0},
	{"fiber", KEY_FIBER, "F", 0,
	 "Only this fiber: its id (T1.F3), its Fiber VALUE or rb_fiber_t in hex", 0},
	{"verbose", 'v', NULL, 0, "Addresses too, and how things were found", 0},
	{0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->target;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case 'a':
		arguments->report.all = true;
		return 0;
	case 'v':
		arguments->report.verbose = true;
		return 0;
	case KEY_THREAD:
		arguments->report.thread = argument;
		return 0;
	case KEY_FIBER:
		arguments->report.fiber = argument;
		return 0;
	case KEY_NATIVE:
		if (!strcmp(argument, "all"))
			arguments->report.native = RCORE_NATIVE_ALL;
		else if (!strcmp(argument, "fold"))
			arguments->report.native = RCORE_NATIVE_FOLDED;
		else if (!strcmp(argument, "none"))
			arguments->report.native = RCORE_NATIVE_NONE;
		else
			argp_error(state, "--native=%s: all, fold or none", argument);
		arguments->target.options.no_native =
			arguments->report.native == RCORE_NATIVE_NONE;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{&rcore_cli_target_argp, 0, "Where the target's files are, and looks:", 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = RCORE_CLI_TARGET_DOC,
	.doc = "Show what a Ruby process was doing when it died, or is doing now: why, and "
	       "every "
	       "thread, fiber and "
	       "frame, Ruby and native in one stack. EXE is the program, where rcore does not "
	       "find it by itself.\v"
	       "Examples:\n\n"
	       "  rcore analyze core.1234\n"
	       "  rcore analyze --fiber T1.F3 --native=all core.1234\n"
	       "  rcore analyze --sysroot /srv/container core.1234\n"
	       "  rcore analyze -p 1234\n"
	       "  rcore analyze --json core.1234 | jq "
	       "'.threads[].status'\n\n" RCORE_CLI_EXIT_STATUS,
	.children = children,
};

static struct rcore_error *print(const struct rcore_snapshot *snapshot,
				 const struct arguments *arguments)
{
	return arguments->json ? rcore_report_json(snapshot, &arguments->report, stdout)
			       : rcore_report_text(snapshot, &arguments->report, stdout);
}

static int analyze(const struct rcore_cli_target *target, void *context,
		   struct rcore_error **ret_error)
{
	const struct arguments *arguments = context;
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *failure = NULL;

	rcore_cli_progress_begin();
	struct rcore_error *err = rcore_cli_target_open(target, &session);
	if (!err)
		err = rcore_load_partial(session, &snapshot, &failure);
	rcore_cli_progress_end();
	if (!err)
		err = print(snapshot, arguments);
	int status = snapshot && snapshot->incomplete ? 1 : 0;
	if (err)
		rcore_error_free(failure);
	*ret_error = err ? err : failure;
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return status;
}

int rcore_cli_analyze(int argc, char **argv)
{
	struct arguments arguments = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	arguments.report.color = arguments.target.color;
	int status = rcore_cli_target_each(&arguments.target, analyze, &arguments);
	rcore_cli_target_deinit(&arguments.target);
	return status;
}
