/* SPDX-License-Identifier: MIT */
#include "command/list.h"
#include "session/layout/examine.h"
#include "session/session.h"

static struct rcore_error *run(struct rcore_view *view, const void *arguments, FILE *out)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure;
	struct rcore_error *err = rcore_examine(view->session, &snapshot, &failure);
	rcore_view_print(view);
	if (err)
		return err;
	const struct rcore_report_options options = {.color = view->color};
	err = rcore_report_doctor(snapshot, failure, &options, out);
	rcore_snapshot_free(snapshot);
	/* Only a running process can be recorded. */
	if (!err && view->session->target.live && view->print_recording)
		view->print_recording(out);
	if (!err)
		return failure;
	rcore_error_free(failure);
	return err;
}

const struct rcore_command rcore_command_doctor = {
	.name = "doctor",
	.topic = RCORE_TOPIC_SELF,
	.verb = "doctor",
	.summary = "what rcore found and how, what is missing, and how to get it",
	.doc = "Print what rcore finds in a core or a process and how: the Ruby, its VM, the "
	       "layout and its checks, and each mapped file. For what is missing, print what "
	       "is lost without it and the command that gets it. For a running process, also "
	       "print which options of rcore record work on this machine. In a shell, rcore "
	       "doctor without a target prints only these options.",
	.without = RCORE_WITHOUT_FIBERS,
	.examples = (const char *const[]){"", NULL},
	.shell_examples =
		(const char *const[]){"rcore doctor --sysroot /srv/container core.1234",
				      "rcore doctor -p 1234", "rcore doctor", NULL},
	.exit_status = "Exit status: 0 rcore can analyze it; 2 it cannot, or the report could "
		       "not be written; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
