/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/list.h"
#include "command/list.h"
#include "layout/layout.h"

struct arguments {
	struct rcore_strings files;
	struct rcore_version_option release, neighbour;
	const char *headers;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"ruby", 'r', RCORE_OPTION_VERSION, MEMBER(release), "X.Y.Z",
	 "The Ruby release, if FILE does not contain it (a debug file)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"headers", 'H', RCORE_OPTION_TEXT, MEMBER(headers), "DIR",
	 "FILE was built from another release's sources with this release's headers, which are "
	 "in DIR. Structs that no header declares are marked as the other release's, and rcore "
	 "reports the layout as approximate. Requires --ruby and --neighbour",
	 .completion = RCORE_COMPLETE_FILE},
	{"neighbour", 'n', RCORE_OPTION_VERSION, MEMBER(neighbour), "X.Y.Z",
	 "The other release, whose sources FILE was built "
	 "from",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *print_table(const struct arguments *arguments)
{
	struct rcore_layout layout;
	const char *file = arguments->files.items[0];
	const unsigned *version =
		arguments->release.is_given ? arguments->release.number : NULL;
	const unsigned *neighbour = arguments->neighbour.number;
	struct rcore_error *err =
		arguments->headers
			? rcore_layout_from_headers(file, version, arguments->headers,
						    neighbour, &layout)
			: rcore_layout_from_dwarf(file, version, &layout);
	if (err)
		return err;
	rcore_layout_set_table_name(&layout);
	char *provenance = rcore_layout_provenance(file);
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

static struct rcore_error *check_arguments(const struct arguments *arguments)
{
	if (arguments->files.count != 1)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "missing FILE; name a file with debug information, "
					  "or use list, diff or check");
	if (!arguments->headers != !arguments->neighbour.is_given ||
	    (arguments->headers && !arguments->release.is_given))
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "options '--headers' and '--neighbour' require each "
					  "other and '--ruby'");
	return NULL;
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *arguments = given;
	struct rcore_error *err = check_arguments(arguments);
	if (!err)
		err = print_table(arguments);
	if (!err && (fflush(stdout) == EOF || ferror(stdout)))
		err = rcore_error_os(errno, "cannot write the table");
	return err;
}

const struct rcore_command rcore_cli_layout = {
	.name = "layout",
	.topic = RCORE_TOPIC_SELF,
	.input = RCORE_INPUT_NONE,
	.summary = "print the layout table of a Ruby with debug information",
	.doc = "Print the layout table of a Ruby, the offsets of the fields that rcore reads, "
	       "from the debug information of FILE: a ruby, a libruby, a program that embeds "
	       "Ruby, or a separate debug file.\nSave a table as "
	       "$XDG_DATA_HOME/rcore/layouts/NAME.layout (or "
	       "~/.local/share/rcore/layouts/NAME.layout) to use it without --layout. rcore "
	       "prefers it to a built-in table if both are equally near to the target's "
	       "release.",
	.options = options,
	.size = sizeof(struct arguments),
	.words = "FILE",
	.operands_offset = MEMBER(files),
	.completion = RCORE_COMPLETE_FILE,
	.subcommands = (const struct rcore_command *const[]){&rcore_cli_layout_list,
							     &rcore_cli_layout_diff,
							     &rcore_command_check, NULL},
	.shell_examples =
		(const char *const[]){"rcore layout libruby.so.3.3 > 3.3.layout",
				      "rcore layout --ruby 3.3.8 "
				      "/usr/lib/debug/.build-id/ab/cd.debug > 3.3.layout",
				      "rcore analyze --layout 3.3.layout core.1234",
				      "rcore layout diff 3.3.0 3.3.11",
				      "rcore layout check core.1234", NULL},
	.exit_status = "Exit status: 0 printed; 2 FILE does not have this debug information; "
		       "64 wrong usage.",
	.run_in_shell = run_in_shell,
};
