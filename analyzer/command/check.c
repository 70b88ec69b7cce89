/* SPDX-License-Identifier: MIT */
#include "command/list.h"
#include "session/layout/examine.h"

static bool any_wrong(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->field_check_count; i++)
		if (snapshot->field_checks[i].state == RCORE_FIELD_WRONG)
			return true;
	return false;
}

static struct rcore_error *run(struct rcore_view *view, const void *arguments, FILE *out)
{
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure;
	struct rcore_error *err = rcore_check_layout(view->session, &snapshot, &failure);
	rcore_view_print(view);
	if (err)
		return err;
	if (!failure) {
		failure = rcore_report_check(snapshot, &report, out);
		view->is_partial = any_wrong(snapshot);
	}
	rcore_snapshot_free(snapshot);
	return failure;
}

/* `rcore layout check`. */
const struct rcore_command rcore_command_check = {
	.name = "check",
	.summary = "check each field of the layout against a core or a process",
	.doc = "Check each field of the layout that rcore uses for a core or a process. The "
	       "checks follow pointers that lead back to where they started, VALUEs whose type "
	       "is known, and lists that must end. Print which fields are right, which are "
	       "wrong, which cannot be checked on this target, which have no check, and which "
	       "are not measured for this Ruby.",
	.without = RCORE_WITHOUT_FIBERS,
	.examples = (const char *const[]){"", "--layout my.layout", NULL},
	.exit_status = "Exit status: 0 no field is wrong; 1 some are; 2 no layout finds the "
		       "VM; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
