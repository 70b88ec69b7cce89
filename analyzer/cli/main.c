/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/count.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/screen.h"

static const struct rcore_command *const *const lists[] = {rcore_commands, rcore_cli_commands};
enum { LIST_COUNT = RCORE_COUNT(lists) };

static const struct rcore_command *find_command(const char *name)
{
	for (size_t i = 0; i < LIST_COUNT; i++)
		for (const struct rcore_command *const *command = lists[i]; *command; command++)
			if ((*command)->name && strcmp((*command)->name, name) == 0)
				return *command;
	return NULL;
}

static void print_usage(FILE *out)
{
	fputs("Usage: rcore COMMAND ...\n"
	      "       rcore CORE [EXE]\n"
	      "       rcore -p PID\n",
	      out);
}

static int print_help(void)
{
	const struct rcore_help_style style = rcore_cli_help_style();
	print_usage(stdout);
	puts("\n"
	     "Prints what a Ruby process is doing, or was doing when it died: every thread,\n"
	     "every fiber, with Ruby and native frames in one stack. Works on stripped "
	     "Rubies.\n"
	     "\n"
	     "TARGET is CORE [EXE], a core file and its program, or -p PID, a running "
	     "process.\n"
	     "'rcore CORE' means 'rcore analyze CORE'.");
	rcore_help_list(lists, LIST_COUNT, &style, stdout);
	puts("\n"
	     "'rcore help COMMAND' explains a command; 'rcore --version' prints the version.\n"
	     "\n"
	     "Examples:\n"
	     "\n"
	     "  rcore analyze core.1234\n"
	     "  rcore waits -p 1234\n"
	     "  rcore gdb -p 1234");
	return 0;
}

/* rcore help [COMMAND [SUBCOMMAND]] */
static int help(int argc, char **argv)
{
	static char option[] = "--help";
	const struct rcore_command *command = argc > 2 ? find_command(argv[2]) : NULL;
	if (argc < 3)
		return print_help();
	if (command) {
		char *words[] = {argv[2], argc > 3 ? argv[3] : option, option, NULL};
		return rcore_cli_command(command, 3, words);
	}
	char escaped[128];
	fprintf(stderr, "rcore: unknown command '%s'; see rcore --help\n",
		rcore_escape(escaped, sizeof(escaped), argv[2]));
	return EX_USAGE;
}

/* A mistyped command should not be reported as a missing core file. */
static bool is_mistyped(const char *word)
{
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0' && word[0] != '-' &&
	       access(word, F_OK) != 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/*
 * Output that was buffered by --help and the like may still fail to be written.
 * Commands report their own failures.
 */
static void close_output(void)
{
	if (ferror(stdout) || fflush(stdout) == 0)
		return;
	rcore_screen_end_if_unread();
	fprintf(stderr, "rcore: cannot write the output: %s\n", strerror(errno));
	_exit(2);
}

/*
 * Files are mapped, and the kernel sends SIGBUS if one became shorter. rcore
 * must not continue with zeroes for the missing part, so it exits.
 */
static void on_shrunk_file(int signo)
{
	static const char text[] =
		"rcore: a file shrank while it was read (the core, or a file of the target); "
		"wait until it is complete, or use a copy\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(2);
}

int main(int argc, char **argv)
{
	static const char *const asks_help[] = {"--help", "-h", "-?", NULL};
	static const char *const asks_version[] = {"--version", "-V", NULL};
	static char buffer[256 << 10];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	atexit(close_output);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, on_shrunk_file);

	if (argc < 2) {
		print_usage(stderr);
		fputs("See rcore --help.\n", stderr);
		return EX_USAGE;
	}
	const struct rcore_command *command = find_command(argv[1]);
	if (command)
		return rcore_cli_command(command, argc - 1, argv + 1);
	if (strcmp(argv[1], "help") == 0)
		return help(argc, argv);
	if (is_one_of(argv[1], asks_help))
		return print_help();
	if (is_one_of(argv[1], asks_version)) {
		printf("rcore %s\n", RCORE_VERSION);
		return 0;
	}
	if (is_mistyped(argv[1])) {
		fprintf(stderr,
			"rcore: '%s' is neither a command nor a file; see rcore --help\n",
			argv[1]);
		return EX_USAGE;
	}
	return rcore_cli_command(find_command("analyze"), argc, argv);
}
