/* SPDX-License-Identifier: MIT */
#include "command/list.h"

struct arguments {
	bool json;
};

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, offsetof(struct arguments, json), .help = "As JSON"},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
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
	.summary = "what the signature of the crash was made of",
	.doc = "Say what the signature of a crash was made of: the lines that were hashed, and "
	       "of each frame in which form it counts, and why not in the other. Two crashes "
	       "with the same loose signature are most likely the same, whatever the Ruby and "
	       "wherever its files lie; with the same strict signature they also went the same "
	       "way.",
	.options = options,
	.size = sizeof(struct arguments),
	.examples = (const char *const[]){"", NULL},
	.shell_examples =
		(const char *const[]){"rcore explain --json core.1234 | jq -r .signature.loose",
				      NULL},
	.run = run,
};
