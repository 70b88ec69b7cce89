/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "cli/target.h"
#include "model/redaction_names.h"
#include "target/core/journal.h"

static const char *const color_names[] = {[RCORE_COLOR_AUTO] = "auto",
					  [RCORE_COLOR_ALWAYS] = "always",
					  [RCORE_COLOR_NEVER] = "never",
					  NULL};

#define MEMBER(name) offsetof(struct rcore_cli_target, name)

static const struct rcore_option files_options[] = {
	{"sysroot", 0, RCORE_OPTION_TEXT, MEMBER(options.sysroot), "DIR",
	 "Read the target's files below DIR: the root of a container, or a copy of another "
	 "machine's files",
	 .completion = RCORE_COMPLETE_FILE, .is_folder = true},
	{"lib-search-path", 0, RCORE_OPTION_LIST, MEMBER(search_paths), "DIR",
	 "Search DIR for the target's files, by build-id and name. Can be repeated",
	 .completion = RCORE_COMPLETE_FILE, .is_folder = true},
	{"layout", 0, RCORE_OPTION_TEXT, MEMBER(options.layout_file), "FILE",
	 "Use the layout table in FILE (see rcore layout)", .completion = RCORE_COMPLETE_FILE},
	{"color", 0, RCORE_OPTION_CHOICE, MEMBER(color_when), "WHEN",
	 "Use colors: auto (the default), always or never", color_names,
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static const struct rcore_option redact_options[] = {
	{"redact", 0, RCORE_OPTION_CHOICE, MEMBER(redact), "WHAT", RCORE_REDACT_HELP,
	 rcore_redact_names, .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

/* For commands that remove secrets by default. */
static const struct rcore_option redact_options_secrets[] = {
	{"redact", 0, RCORE_OPTION_CHOICE, MEMBER(redact), "WHAT",
	 RCORE_REDACT_HELP_OF("", "the default: "), rcore_redact_names,
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static const struct rcore_option process_options[] = {
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID|NAME",
	 "Read a running process: stop it for a few milliseconds, then resume it. NAME is part "
	 "of its title; `rcore ps` lists them",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"container", 0, RCORE_OPTION_TEXT, MEMBER(container), "ID",
	 "Read the Ruby process of this container (Docker, Podman, Kubernetes); ID is the "
	 "start of its id",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"children", 0, RCORE_OPTION_FLAG, MEMBER(children),
	 .help = "With -p, also read its descendants (a cluster of workers). The output begins "
		 "with a summary of all",
	 .adds_descendants = true},
	{0},
};

static const struct rcore_option watch_options[] = {
	{"watch", 0, RCORE_OPTION_TIME, MEMBER(watch), "TIME",
	 "With -p, look again after each TIME (seconds, or 90s, 5m or 1h) and print which "
	 "threads and fibers now have another stack, or wait for something else",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static const struct rcore_option no_stop_options[] = {
	{"no-stop", 0, RCORE_OPTION_FLAG, MEMBER(options.no_stop),
	 .help = "With -p, read the process while it runs. Prints only Ruby frames, which may "
		 "not fit together"},
	{0},
};

static const struct rcore_option max_pause_options[] = {
	{"max-pause", 0, RCORE_OPTION_AMOUNT, MEMBER(options.max_pause_ms), "MS",
	 "With -p, resume the process after MS milliseconds, but not before all its threads "
	 "have stopped. rcore reads the rest afterwards and marks it. `rcore heap` and "
	 "`rcore pack --heap`, whose default is 500, and `rcore print` fail instead",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static const struct rcore_option exact_options[] = {
	{"exact", 0, RCORE_OPTION_FLAG, MEMBER(options.exact),
	 .help = "With -p, copy the stacks of all parked fibers while the process is stopped, "
		 "even of fibers that do not seem to have run since just before the stop"},
	{0},
};

static const struct rcore_option folder_options[] = {
	{"coredump-dir", 0, RCORE_OPTION_TEXT, MEMBER(coredump_folder), "DIR",
	 "Search DIR for coredump:PID and coredump:NAME, as coredumpctl does "
	 "(" RCORE_JOURNAL_FOLDER ")",
	 .completion = RCORE_COMPLETE_FILE},
	{0},
};

static const struct rcore_option recognizer_options[] = {
	{"recognizers", 0, RCORE_OPTION_TEXT, MEMBER(options.recognizer_file), "FILE",
	 "Also find what fibers work on with the entries of FILE (see docs/recognizers.md)",
	 .completion = RCORE_COMPLETE_FILE},
	{0},
};

/*
 * Which target, and how to read it. A command that has the bit in its `without`
 * does not have the options.
 */
static const struct {
	bool is_for_processes;
	unsigned without;
	const struct rcore_option *options;
} target_groups[RCORE_CLI_TARGET_GROUPS] = {
	{true, 0, process_options},
	{true, RCORE_WITHOUT_WATCH, watch_options},
	{true, RCORE_WITHOUT_NO_STOP, no_stop_options},
	{true, 0, max_pause_options},
	{true, RCORE_WITHOUT_EXACT, exact_options},
	{false, 0, folder_options},
	{false, RCORE_WITHOUT_RECOGNIZERS, recognizer_options},
};

static const struct rcore_option help_options[] = {
	{"help", 'h', RCORE_OPTION_FLAG, offsetof(struct rcore_cli_help, help),
	 .help = "Print this help"},
	{0},
};

static void add_target_options(const struct rcore_command *command,
			       struct rcore_cli_target *target,
			       struct rcore_option_group ret[RCORE_CLI_GROUPS], size_t *count)
{
	const char *heading = "Which target";
	for (size_t i = 0; i < RCORE_CLI_TARGET_GROUPS; i++) {
		if (target_groups[i].without & command->without ||
		    (target_groups[i].is_for_processes && command->is_for_cores))
			continue;
		ret[(*count)++] =
			(struct rcore_option_group){heading, target_groups[i].options, target};
		heading = "";
	}
}

size_t rcore_cli_groups(const struct rcore_command *command, void *arguments,
			struct rcore_cli_target *target, struct rcore_cli_help *help,
			struct rcore_option_group ret[RCORE_CLI_GROUPS])
{
	size_t count = 0;
	ret[count++] = (struct rcore_option_group){NULL, command->options, arguments};
	if (command->input == RCORE_INPUT_TARGET)
		add_target_options(command, target, ret, &count);
	if (command->input != RCORE_INPUT_NONE) {
		ret[count++] =
			(struct rcore_option_group){"Files and output", files_options, target};
		ret[count++] = (struct rcore_option_group){
			"", command->redact ? redact_options_secrets : redact_options, target};
	}
	ret[count++] = (struct rcore_option_group){"Help", help_options, help};
	return count;
}
