/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "rcore.h"

/* Those that do not ask a TARGET. */
static const struct own_command {
	const char *name, *usage, *summary;
	int (*run)(int argc, char **argv);
} own_commands[] = {
	{"gdb", "gdb TARGET", "start gdb with rcore's commands in it", rcore_cli_gdb},
	{"lldb", "lldb TARGET", "start lldb with rcore's commands in it", rcore_cli_lldb},
	{"layout", "layout FILE", "the layout table of a Ruby with debug information",
	 rcore_cli_layout},
	{"collect", "collect", "a core from the kernel's pipe into a report and a pack",
	 rcore_cli_collect},
	{"triage", "triage DIR|CORE...", "many cores, grouped by their crash: which are new",
	 rcore_cli_triage},
};

struct command {
	const struct rcore_command *shared; /* NULL: none of command/ */
	const struct own_command *own;      /* NULL: none of these */
};

static const struct argp_option options[] = {
	{"version", 'V', NULL, 0, "Print the version", 0},
	{0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'V':
		printf("rcore %s\n", RCORE_VERSION);
		exit(0);
	case ARGP_KEY_ARG:
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *list_commands(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size;
	FILE *out = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&list, &size) : NULL;
	if (!out)
		return (char *)text;
	fputs("Commands:\n\n", out);
	for (const struct rcore_command *const *command = rcore_commands; *command; command++) {
		char usage[64];
		snprintf(usage, sizeof(usage), "%s TARGET%s%s", (*command)->name,
			 (*command)->words ? " " : "",
			 (*command)->words ? (*command)->words : "");
		fprintf(out, "  %-20s%s\n", usage, (*command)->summary);
	}
	for (size_t i = 0; i < sizeof(own_commands) / sizeof(own_commands[0]); i++)
		fprintf(out, "  %-20s%s\n", own_commands[i].usage, own_commands[i].summary);
	fputs("  help [COMMAND]      this, or a command's options and examples\n\n"
	      "TARGET is CORE [EXE], or -p PID for a running process; "
	      "'rcore CORE' is 'rcore analyze CORE'.\n\n"
	      "Example:\n\n"
	      "  rcore analyze core.1234\n\n" RCORE_CLI_EXIT_STATUS,
	      out);
	if (fclose(out) == 0)
		return list;
	free(list);
	return (char *)text;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "COMMAND ...\nCORE [EXE]\n-p PID",
	.doc = "What a Ruby program was doing, out of its core file, or is doing now: every "
	       "thread, every fiber, every "
	       "Ruby frame. The Ruby may be stripped.\v ",
	.help_filter = list_commands,
};

static bool find_command(const char *name, struct command *ret)
{
	*ret = (struct command){0};
	for (const struct rcore_command *const *command = rcore_commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			ret->shared = *command;
	for (size_t i = 0; i < sizeof(own_commands) / sizeof(own_commands[0]); i++)
		if (strcmp(own_commands[i].name, name) == 0)
			ret->own = &own_commands[i];
	return ret->shared || ret->own;
}

static int run(const struct command *command, int argc, char **argv)
{
	char title[32];
	snprintf(title, sizeof(title), "rcore %s",
		 command->own ? command->own->name : command->shared->name);
	argv[0] = title;
	return command->own ? command->own->run(argc, argv)
			    : rcore_cli_command(command->shared, argc, argv);
}

static int help(char **argv)
{
	struct command command;
	char option[] = "--help", name[] = "rcore";
	char *arguments[] = {name, option, NULL};
	if (argv[2] && find_command(argv[2], &command))
		return run(&command, 2, arguments);
	if (argv[2]) {
		fprintf(stderr, "rcore: no command '%s'; rcore --help lists them\n", argv[2]);
		return EX_USAGE;
	}
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, name);
	return 0;
}

/* A mistyped command is no core file that is missing. */
static bool is_mistyped(const char *word)
{
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0' && word[0] != '-' &&
	       access(word, F_OK) != 0;
}

static bool is_own_option(const char *word)
{
	static const char *const own[] = {"--help", "-?", "--usage", "--version", "-V"};
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(word, own[i]) == 0)
			return true;
	return false;
}

/* What --help and the like wrote may still fail to be written; commands have told of theirs. */
static void close_output(void)
{
	if (ferror(stdout) || fclose(stdout) == 0)
		return;
	fprintf(stderr, "rcore: cannot write the output: %s\n", strerror(errno));
	_exit(2);
}

/* Files are mapped: the kernel tells so that one is shorter than it was. Zeroes in place of what is gone would
 * be a lie, so this is the end. */
static void on_shrunk_file(int signo)
{
	static const char text[] =
		"rcore: a file became shorter while it was read (the core, or one "
		"of the target's): wait until it is written, or take a copy\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(2);
}

int main(int argc, char **argv)
{
	static char buffer[256 << 10];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	atexit(close_output);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, on_shrunk_file);
	argp_err_exit_status = EX_USAGE;

	struct command command;
	if (argc > 1 && find_command(argv[1], &command))
		return run(&command, argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "help") == 0)
		return help(argv);
	if (argc < 2) {
		char name[] = "rcore";
		argp_help(&argp, stderr, ARGP_HELP_STD_USAGE, name);
		return EX_USAGE;
	}
	if (is_own_option(argv[1]))
		return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
	if (is_mistyped(argv[1])) {
		fprintf(stderr,
			"rcore: '%s' is neither a command nor a file; see rcore --help\n",
			argv[1]);
		return EX_USAGE;
	}
	find_command("analyze", &command);
	return run(&command, argc, argv);
}
