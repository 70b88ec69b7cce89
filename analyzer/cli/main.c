/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/list.h"
#include "cli/manual.h"
#include "cli/screen.h"
#include "command/nearest.h"

/* `first` precedes the first line, and `others` precedes the other lines. */
static void print_lines(const char *text, const char *first, const char *others, FILE *out)
{
	for (const char *lead = first; *text; lead = others) {
		int length = (int)strcspn(text, "\n") + 1;
		fprintf(out, "%s%.*s", lead, length, text);
		text += length;
	}
}

static void print_usage(FILE *out)
{
	print_lines(rcore_cli_usage, "Usage: ", "       ", out);
}

static int print_help(void)
{
	const struct rcore_help_style style = rcore_cli_help_style();
	print_usage(stdout);
	putchar('\n');
	rcore_help_wrap(rcore_cli_description, 0, 0, style.width ? style.width : 80, stdout);
	rcore_help_list(rcore_cli_lists, rcore_cli_list_count, &style, stdout);
	puts("\n"
	     "'rcore help COMMAND' explains a command; 'rcore --version' prints the version.\n"
	     "\n"
	     "Examples:\n");
	print_lines(rcore_cli_examples, "  ", "  ", stdout);
	return 0;
}

/* Prints that `word` is wrong, and which command the user may have meant. */
static int suggest(const char *before, const char *word, const char *after)
{
	const char *name = rcore_cli_nearest(word);
	char escaped[128];
	fprintf(stderr, "rcore: %s'%s'%s", before, rcore_escape(escaped, sizeof(escaped), word),
		after);
	if (name)
		fprintf(stderr, "; did you mean `%s`?\n", name);
	else
		fputs("; see rcore --help\n", stderr);
	return EX_USAGE;
}

/* rcore help [COMMAND [SUBCOMMAND]] */
static int help(int argc, char **argv)
{
	static char option[] = "--help";
	const struct rcore_command *command = argc > 2 ? rcore_cli_find(argv[2]) : NULL;
	if (argc < 3 || strcmp(argv[2], "help") == 0)
		return print_help();
	if (command) {
		char *words[] = {argv[2], argc > 3 ? argv[3] : option, option, NULL};
		return rcore_cli_command(command, 3, words);
	}
	return suggest("unknown command ", argv[2], "");
}

/* A mistyped command should not be reported as a missing core file. */
static bool is_mistyped(const char *word)
{
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0' && word[0] != '-' &&
	       access(word, F_OK) != 0;
}

/* Other options are those of `rcore analyze`, which has no --version. */
static bool is_mistyped_version(const char *word)
{
	struct rcore_nearest nearest = {word, strlen(word), NULL, 0};
	rcore_nearest_compare(&nearest, "--version");
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0' && nearest.name;
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
 * Files are mapped, so the kernel sends SIGBUS if one has become shorter. rcore
 * must not continue with zeroes for the missing part, so it exits.
 */
static void on_shrunk_file(int signo)
{
	static const char text[] =
		"rcore: a file shrank while it was read; wait until it is complete, or use a "
		"copy\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(2);
}

/*
 * If a standard file is closed, the next file that rcore opens would get its
 * number, and a recording would contain messages. With O_PATH, reads and writes
 * fail as if the file were still closed.
 */
static void fill_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", O_PATH);
}

int main(int argc, char **argv)
{
	static const char *const asks_help[] = {"--help", "-h", "-?", NULL};
	static const char *const asks_version[] = {"--version", "-V", NULL};
	static char buffer[256 << 10];
	fill_standard_files();
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	atexit(close_output);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, on_shrunk_file);

	if (argc < 2) {
		print_usage(stderr);
		fputs("See rcore --help.\n", stderr);
		return EX_USAGE;
	}
	const struct rcore_command *command = rcore_cli_find(argv[1]);
	if (command)
		return rcore_cli_command(command, argc - 1, argv + 1);
	if (strcmp(argv[1], "help") == 0)
		return help(argc, argv);
	if (strcmp(argv[1], "complete") == 0)
		return rcore_cli_complete(argc - 1, argv + 1);
	if (strcmp(argv[1], "manual") == 0)
		return rcore_cli_manual(argc - 1, argv + 1);
	if (is_one_of(argv[1], asks_help))
		return print_help();
	if (is_one_of(argv[1], asks_version)) {
		printf("rcore %s\n", RCORE_VERSION);
		return 0;
	}
	if (is_mistyped(argv[1]))
		return suggest("", argv[1], " is neither a command nor a file");
	if (is_mistyped_version(argv[1])) {
		fprintf(stderr, "rcore: unknown option '%s'; did you mean `--version`?\n",
			argv[1]);
		return EX_USAGE;
	}
	return rcore_cli_command(rcore_cli_find("analyze"), argc, argv);
}
