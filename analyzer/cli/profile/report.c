/* SPDX-License-Identifier: MIT */
#include "cli/list.h"
#include "cli/target.h"
#include "cli/profile/profile_screen.h"
#include "model/redaction_names.h"

struct arguments {
	struct rcore_strings recordings;
	struct rcore_profile_arguments profile;
	const char *old;
	int redact;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	RCORE_PROFILE_OPTIONS(struct arguments, profile),
	{"diff", 0, RCORE_OPTION_TEXT, MEMBER(old), "OLD",
	 "Compare with the recording OLD, whose times are scaled to the length of the new one",
	 .completion = RCORE_COMPLETE_FILE},
	{"redact", 0, RCORE_OPTION_CHOICE, MEMBER(redact), "WHAT", RCORE_REDACT_HELP,
	 rcore_redact_names, .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *check_words(const struct rcore_strings *words)
{
	if (words->count == 1)
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE,
				  words->count ? "name only one recording; --diff OLD compares "
						 "two"
					       : "missing FILE: name a recording, which `rcore "
						 "record -o FILE.rec` makes");
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *arguments = given;
	bool is_partial = false;
	struct rcore_inputs inputs = {0};
	struct rcore_error *err = check_words(&arguments->recordings);
	if (err)
		return err;
	const struct rcore_profile_request request = {
		.arguments = &arguments->profile,
		.path = arguments->recordings.items[0],
		.old = arguments->old,
		.redact = (enum rcore_redact)arguments->redact,
		.color = target->color,
	};
	err = rcore_inputs_add(&inputs, request.path, "the recording itself");
	if (!err)
		err = rcore_inputs_add(&inputs, request.old, "the old recording");
	if (!err)
		err = rcore_profile_check(&request, &inputs);
	if (!err)
		err = rcore_profile_show(&request, &inputs, &is_partial);
	*ret_status = is_partial;
	rcore_inputs_deinit(&inputs);
	return err;
}

const struct rcore_command rcore_cli_report = {
	.name = "report",
	.topic = RCORE_TOPIC_TIME,
	.input = RCORE_INPUT_NONE,
	.summary = "turn a recording into a flame graph, a pprof file, a table of methods and "
		   "so on",
	.doc = "Read a recording of rcore record and write it in other formats, all from the "
	       "same totals. Without -o, print for which methods of the application the time "
	       "was spent, and the methods with the most time of their own. Times are summed "
	       "over all threads and parked fibers.",
	.options = options,
	.size = sizeof(struct arguments),
	.words = "FILE",
	.operands_offset = MEMBER(recordings),
	.completion = RCORE_COMPLETE_FILE,
	.shell_examples =
		(const char *const[]){
			"rcore report load.rec",
			"rcore report load.rec -o load.svg -o load.pb.gz",
			"rcore report load.rec --by label:tenant --where action=checkout",
			"rcore report load.rec --mode cpu -o busy.txt",
			"rcore report new.rec --diff old.rec -o diff.svg", NULL},
	.exit_status =
		"Exit status: 0 complete; 1 the recording is damaged, and what is before "
		"the damage was used; 2 no recording, or an output could not be written; "
		"64 wrong usage.",
	.run_in_shell = run_in_shell,
};
