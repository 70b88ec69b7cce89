/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "layout/layout.h"

struct arguments {
	const char *file;
	unsigned version[3];
	bool has_version;
};

static const struct argp_option options[] = {
	{"ruby", 'r', "X.Y.Z", 0,
	 "The Ruby release, for a file that does not say (a debug file)", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'r':
		if (!rcore_version_parse(arg, arguments->version))
			argp_error(state, "'%s' is not a Ruby release such as 3.3.8", arg);
		arguments->has_version = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->file)
			argp_error(state, "one FILE at a time");
		arguments->file = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE",
	.doc = "Print where Ruby's structs keep what rcore reads, as the debug information of "
	       "FILE "
	       "has it: a ruby, a libruby, a program that embeds one, or the separate debug "
	       "file of "
	       "one.\v"
	       "The table goes to the standard output:\n\n"
	       "  rcore layout libruby.so.3.3 > 3.3.layout\n"
	       "  rcore layout --ruby 3.3.8 /usr/lib/debug/.build-id/ab/cd.debug > 3.3.layout\n"
	       "  rcore analyze --layout 3.3.layout core.1234\n\n"
	       "Exit status: 0 printed, 2 no such debug information in FILE, 64 usage.",
};

int rcore_cli_layout(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct rcore_layout layout;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	rcore_auto_error err = rcore_layout_from_dwarf(
		arguments.file, arguments.has_version ? arguments.version : NULL, &layout);
	if (err) {
		fprintf(stderr, "rcore: %s\n", err->message);
		return 2;
	}
	rcore_layout_set_table_name(&layout);
	char *provenance = rcore_layout_provenance(arguments.file);
	char *text = rcore_layout_print(&layout, provenance);
	bool failed = !text || fputs(text, stdout) == EOF || fflush(stdout) == EOF;
	free(text);
	free(provenance);
	if (failed) {
		perror("rcore: writing the table");
		return 2;
	}
	return 0;
}
