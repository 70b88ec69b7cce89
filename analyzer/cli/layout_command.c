/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/layout_command.h"
#include "command/list.h"
#include "layout/layout.h"

struct arguments {
	const char *files[2];
	int count;
	unsigned version[3], neighbour[3];
	const char *headers;
	bool has_version, list, diff;
};

static const struct argp_option options[] = {
	{"ruby", 'r', "X.Y.Z", 0,
	 "The Ruby release, for a file that does not say (a debug file)", 0},
	{"headers", 'H', "DIR", 0,
	 "FILE was built of another release's sources with this one's headers, which are in "
	 "DIR: "
	 "structs that none of them declares are marked as that release's, and what they are "
	 "used for as approximate; with --ruby and --neighbour",
	 0},
	{"neighbour", 'n', "X.Y.Z", 0, "That other release", 0},
	{"list", 'l', NULL, 0, "The tables that are built in, and those of your folder", 0},
	{"diff", 'd', NULL, 0, "What differs between two tables", 0},
	{"check", 'c', NULL, 0,
	 "Prove each field of the layout that a core or a process is read with; "
	 "`rcore layout --check --help` says more",
	 0},
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
	case 'H':
		arguments->headers = arg;
		return 0;
	case 'n':
		if (!rcore_version_parse(arg, arguments->neighbour))
			argp_error(state, "'%s' is not a Ruby release such as 4.0.5", arg);
		return 0;
	case 'l':
		arguments->list = true;
		return 0;
	case 'd':
		arguments->diff = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->count == 2)
			return ARGP_ERR_UNKNOWN;
		arguments->files[arguments->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->headers != !arguments->neighbour[0] ||
		    (arguments->headers && !arguments->has_version))
			argp_error(state, "--headers goes with --ruby and --neighbour");
		if (arguments->list ? arguments->count != 0
				    : arguments->count != (arguments->diff ? 2 : 1))
			argp_error(state, arguments->list   ? "--list takes no file"
					  : arguments->diff ? "--diff takes two tables"
							    : "one FILE, please");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE\n--list\n--diff TABLE TABLE\n--check CORE [EXE]\n--check -p PID",
	.doc = "Print where Ruby's structs keep what rcore reads, as the debug information of "
	       "FILE "
	       "has it: a ruby, a libruby, a program that embeds one, or the separate debug "
	       "file of "
	       "one.\v"
	       "The table goes to the standard output:\n\n"
	       "  rcore layout libruby.so.3.3 > 3.3.layout\n"
	       "  rcore layout --ruby 3.3.8 /usr/lib/debug/.build-id/ab/cd.debug > 3.3.layout\n"
	       "  rcore analyze --layout 3.3.layout core.1234\n"
	       "  rcore layout --diff 3.3.0 3.3.11\n"
	       "  rcore layout --check core.1234\n\n"
	       "A table that is kept as $XDG_DATA_HOME/rcore/layouts/NAME.layout (else "
	       "~/.local/share/rcore/layouts/NAME.layout) needs no --layout: it goes before "
	       "the "
	       "built-in ones that are as near to the target's release.\n\n"
	       "Exit status: 0 printed, and nothing differs; 1 tables differ; 2 no such debug "
	       "information in FILE, or no such table; 64 usage.",
};

static struct rcore_error *print_table(const struct arguments *arguments)
{
	struct rcore_layout layout;
	const unsigned *version = arguments->has_version ? arguments->version : NULL;
	struct rcore_error *err =
		arguments->headers
			? rcore_layout_from_headers(arguments->files[0], version,
						    arguments->headers, arguments->neighbour,
						    &layout)
			: rcore_layout_from_dwarf(arguments->files[0], version, &layout);
	if (err)
		return err;
	rcore_layout_set_table_name(&layout);
	char *provenance = rcore_layout_provenance(arguments->files[0]);
	const unsigned *neighbour = layout.neighbour;
	if (arguments->headers)
		printf("# headers: of this release; structs marked %u.%u.%u are as that has "
		       "them\n",
		       neighbour[0], neighbour[1], neighbour[2]);
	char *text = rcore_layout_print(&layout, provenance);
	if (text)
		fputs(text, stdout);
	else
		err = rcore_error_no_memory();
	free(text);
	free(provenance);
	return err;
}

int rcore_cli_layout(int argc, char **argv)
{
	struct arguments arguments = {0};
	bool differ = false;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--check") || !strcmp(argv[i], "-c"))
			return rcore_cli_command(&rcore_command_check, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	rcore_auto_error err =
		arguments.list ? rcore_cli_layout_list()
		: arguments.diff
			? rcore_cli_layout_diff(arguments.files[0], arguments.files[1], &differ)
			: print_table(&arguments);
	if (err) {
		fprintf(stderr, "rcore: %s\n", err->message);
		return 2;
	}
	if (fflush(stdout) == EOF || ferror(stdout)) {
		perror("rcore: writing the table");
		return 2;
	}
	return differ ? 1 : 0;
}
