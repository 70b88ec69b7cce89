/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_PROFILE_OUTPUT_H
#define RCORE_COMMAND_PROFILE_OUTPUT_H

#include "command/command.h"
#include "profile/tree.h"
#include "report/profile/profile_report.h"
#include "target/output/inputs.h"

/* The options of every command that writes a profile. */
struct rcore_profile_arguments {
	struct rcore_strings outputs, where;
	const char *by;
	int mode; /* enum rcore_mode */
	bool all;
};

/* The values of --mode. The kind of recording decides which amount each is. */
enum rcore_mode { RCORE_MODE_WALL, RCORE_MODE_CPU, RCORE_MODE_BYTES, RCORE_MODES };

extern const char *const rcore_mode_names[]; /* ends with NULL */

/* Rows of these options for a struct `type` with the member `member`. */
#define RCORE_PROFILE_OPTIONS(type, member)                                                   \
	{                                                                                     \
		.name = "output",                                                             \
		.letter = 'o',                                                                \
		.kind = RCORE_OPTION_LIST,                                                    \
		.offset = offsetof(type, member.outputs),                                     \
		.value = "FILE",                                                              \
		.help = rcore_profile_format_help,                                            \
		.completion = RCORE_COMPLETE_FILE,                                            \
	},                                                                                    \
		{                                                                             \
			.name = "by",                                                         \
			.kind = RCORE_OPTION_TEXT,                                            \
			.offset = offsetof(type, member.by),                                  \
			.value = "WHAT",                                                      \
			.help = "Begin each stack with its process, thread, fiber, state or " \
				"label:KEY (a key of a fiber's context, or a field of what "  \
				"it works on); the table is split by it. The default is "     \
				"nothing or, for a recording of --system, process",           \
		},                                                                            \
		{                                                                             \
			.name = "where",                                                      \
			.kind = RCORE_OPTION_LIST,                                            \
			.offset = offsetof(type, member.where),                               \
			.value = "KEY[=VALUE]",                                               \
			.help = "Keep only samples of fibers whose context, or what they "    \
				"work on, has KEY with this VALUE, or KEY alone with any "    \
				"value. Can be repeated; all must match",                     \
		},                                                                            \
		{                                                                             \
			.name = "mode",                                                       \
			.kind = RCORE_OPTION_CHOICE,                                          \
			.offset = offsetof(type, member.mode),                                \
			.value = "MODE",                                                      \
			.help = "wall (the default): all time, including waiting; "           \
				"cpu: time on a processor; bytes: how many bytes system "     \
				"calls moved",                                                \
			.choices = rcore_mode_names,                                          \
		},                                                                            \
	{                                                                                     \
		.name = "all", .letter = 'a', .offset = offsetof(type, member.all),           \
		.help = "Print every method, not only the first 30",                          \
	}

/* A request to read recordings and write outputs. */
struct rcore_profile_request {
	const struct rcore_profile_arguments *arguments;
	const char *path, *old; /* recordings; `old` may be NULL */
	/* How messages name the first; NULL: by its path. */
	const char *name;
	enum rcore_redact redact;
	bool color;
	bool is_of_calls; /* it is known beforehand that it has no times */
	bool is_new;      /* `rcore record` has just written it */
	/* If not NULL, gets the outputs that could not be written. */
	struct rcore_strings *failed;
};

/* Returns the KEY of "label:KEY", or NULL if `by` (may be NULL) is not that. */
const char *rcore_profile_by_label(const char *by);

/*
 * Checks what can be wrong before anything is recorded or read: an output's
 * suffix or place, a format that cannot show calls, and --by. Errors: USAGE,
 * OS.
 */
struct rcore_error *rcore_profile_check(const struct rcore_profile_request *request,
					const struct rcore_inputs *inputs);

/*
 * Writes all outputs; if there are none, writes the text to `out`. Prints to
 * standard error what is missing in a recording; sets *ret_partial if it was
 * damaged. Errors: those of rcore_recording_open(), rcore_profile_check() and
 * rcore_output_write(). If an output fails, the others are still written, and
 * the first error is returned.
 */
struct rcore_error *rcore_profile_write(const struct rcore_profile_request *request,
					const struct rcore_inputs *inputs, FILE *out,
					bool *ret_partial);

#endif
