/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/target.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp_child children[] = {{&rcore_cli_target_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
	.parser = parse,
	.args_doc = RCORE_CLI_TARGET_DOC,
	.doc = "Say what rcore finds in a core or a running process and how: the Ruby, its VM, "
	       "the layout and its "
	       "proofs, "
	       "each file that was mapped; what is missing, what that costs, and the command "
	       "that "
	       "brings it.\v"
	       "Examples:\n\n"
	       "  rcore doctor core.1234\n"
	       "  rcore doctor --sysroot /srv/container core.1234\n"
	       "  rcore doctor -p 1234\n\n"
	       "Exit status: 0 ready to analyze; 2 the analysis would give up, or the report "
	       "could "
	       "not be written; 3 not a Ruby process; 64 wrong usage.",
	.children = children,
};

static int doctor(const struct rcore_cli_target *target, void *context,
		  struct rcore_error **ret_error)
{
	struct rcore_session *session;
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure = NULL;

	rcore_cli_progress_begin();
	*ret_error = rcore_cli_target_open(target, &session);
	if (*ret_error) {
		rcore_cli_progress_end();
		return 0;
	}
	struct rcore_error *err = rcore_examine(session, &snapshot, &failure);
	rcore_cli_progress_end();
	if (!err) {
		const struct rcore_report_options options = {.color = target->color};
		err = rcore_report_doctor(snapshot, failure, &options, stdout);
		rcore_snapshot_free(snapshot);
	}
	rcore_close(session);
	if (err)
		rcore_error_free(failure);
	*ret_error = err ? err : failure;
	return 0;
}

int rcore_cli_doctor(int argc, char **argv)
{
	struct rcore_cli_target target = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &target);
	int status = rcore_cli_target_each(&target, doctor, NULL);
	rcore_cli_target_deinit(&target);
	return status;
}
