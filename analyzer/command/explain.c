/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	bool json, all;
};

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, offsetof(struct arguments, json),
	 .help = "Print JSON"},
	{"all", 'a', RCORE_OPTION_FLAG, offsetof(struct arguments, all),
	 .help = "Print every frame; do not fold recursion"},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color,
						    .all = arguments->all};
	const struct rcore_snapshot *snapshot;
	struct rcore_error *failure;
	struct rcore_error *err = rcore_view_load(view, &snapshot, &failure);
	if (err)
		return err;
	err = arguments->json ? rcore_report_explain_json(snapshot, &report, out)
			      : rcore_report_explain(snapshot, &report, out);
	if (!err)
		return failure;
	rcore_error_free(failure);
	return err;
}

const struct rcore_command rcore_command_explain = {
	.name = "explain",
	.topic = RCORE_TOPIC_SELF,
	.verb = "explain",
	.summary = "how the signature of the crash was computed",
	.doc = "Print how rcore computed the signature of a crash: the lines that were hashed, "
	       "and for each frame, whether and why it counts in the loose and in the strict "
	       "signature. Two crashes with the same loose signature are very likely the same "
	       "crash, even with other Rubies and paths. If the strict signature is the same, "
	       "they also took the same path through the code.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS,
	.examples = (const char *const[]){"", NULL},
	.shell_examples =
		(const char *const[]){"rcore explain --json core.1234 | jq -r .signature.loose",
				      NULL},
	.run = run,
};
