/* SPDX-License-Identifier: MIT */
#include "cli/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/text.h"
#include "base/version.h"
#include "cli/list.h"
#include "cli/options.h"

/* Writes text so that roff prints it as it is. */
static void print_part(const char *text, size_t size)
{
	bool begins = true;
	for (const char *end = text + size; text < end; text++) {
		if (begins && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		begins = *text == '\n';
		switch (*text) {
		case '\\':
			fputs("\\e", stdout);
			break;
		case '-':
			fputs("\\-", stdout);
			break;
		case '\'':
			fputs("\\(aq", stdout);
			break;
		case '`':
			fputs("\\(ga", stdout);
			break;
		case '^':
			fputs("\\(ha", stdout);
			break;
		case '~':
			fputs("\\(ti", stdout);
			break;
		default:
			putchar(*text);
		}
	}
}

static void print_text(const char *text)
{
	print_part(text, strlen(text));
}

/* Prints lines as they are. */
static void print_block(const char *text)
{
	puts(".nf");
	print_text(text);
	puts(".fi");
}

/* A line of `text` is a line of the page, and an empty one ends a paragraph. */
static void print_paragraphs(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		print_part(text, length);
		putchar('\n');
		text += length;
		size_t newlines = strspn(text, "\n");
		text += newlines;
		if (*text)
			puts(newlines > 1 ? ".PP" : ".br");
	}
}

static void print_title(const char *name, const char *summary)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t when = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	char date[32] = "";
	struct tm parts;
	if (gmtime_r(&when, &parts))
		strftime(date, sizeof(date), "%Y-%m-%d", &parts);
	fputs(".TH ", stdout);
	for (const char *at = name; *at; at++)
		putchar(toupper((unsigned char)*at));
	printf(" 1 %s \"rcore %s\" \"rcore manual\"\n.SH NAME\n", date, RCORE_VERSION);
	print_text(name);
	fputs(" \\- ", stdout);
	print_text(summary);
	putchar('\n');
}

static void print_option(const struct rcore_option *option)
{
	puts(".TP");
	if (option->letter)
		printf("\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", stdout);
	print_text(option->name);
	fputs("\\fR", stdout);
	if (option->value) {
		fputs(option->implied ? "[=\\fI" : "=\\fI", stdout);
		print_text(option->value);
		fputs(option->implied ? "\\fR]" : "\\fR", stdout);
	}
	putchar('\n');
	print_paragraphs(option->help);
}

/*
 * Collects what rcore_help_usage() or a similar function prints. Returns false
 * if memory is short.
 */
static bool print_help_part(const struct rcore_command *command,
			    const struct rcore_command *parent,
			    void (*part)(const struct rcore_command *command,
					 const struct rcore_command *parent, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return false;
	part(command, parent, out);
	if (fclose(out))
		return false;
	if (size)
		print_block(text);
	free(text);
	return true;
}

static void print_options(const struct rcore_command *command)
{
	struct rcore_option_group groups[RCORE_CLI_GROUPS];
	size_t count = rcore_cli_groups(command, NULL, NULL, NULL, groups);
	for (size_t i = 0; i < count; i++) {
		if (!groups[i].options || !groups[i].options->name)
			continue;
		if (groups[i].heading && *groups[i].heading) {
			fputs(".SS ", stdout);
			print_text(groups[i].heading);
			putchar('\n');
		}
		for (const struct rcore_option *option = groups[i].options; option->name;
		     option++)
			print_option(option);
	}
}

static bool print_subcommand(const struct rcore_command *command,
			     const struct rcore_command *parent)
{
	printf(".SH RCORE ");
	for (const char *at = parent->name; *at; at++)
		putchar(toupper((unsigned char)*at));
	putchar(' ');
	for (const char *at = command->name; *at; at++)
		putchar(toupper((unsigned char)*at));
	putchar('\n');
	bool ok = print_help_part(command, parent, rcore_help_usage);
	puts(".PP");
	print_paragraphs(command->doc);
	print_options(command);
	return ok;
}

static bool print_command(const struct rcore_command *command)
{
	char name[64];
	const char *status = rcore_help_status(command);
	snprintf(name, sizeof(name), "rcore-%s", command->name);
	print_title(name, command->summary);
	puts(".SH SYNOPSIS");
	bool ok = print_help_part(command, NULL, rcore_help_usage);
	puts(".SH DESCRIPTION");
	print_paragraphs(command->doc);
	puts(".SH OPTIONS");
	print_options(command);
	for (const struct rcore_command *const *sub = command->subcommands; sub && *sub; sub++)
		ok &= print_subcommand(*sub, command);
	if (command->examples || command->shell_examples) {
		puts(".SH EXAMPLES");
		ok &= print_help_part(command, NULL, rcore_help_examples);
	}
	puts(".SH EXIT STATUS");
	print_paragraphs(strncmp(status, "Exit status: ", 13) == 0 ? status + 13 : status);
	puts(".SH SEE ALSO\n.BR rcore (1)");
	return ok;
}

static void print_index(void)
{
	print_title("rcore", "print what a Ruby process is doing, or was doing when it died");
	puts(".SH SYNOPSIS");
	print_block(rcore_cli_usage);
	puts(".SH DESCRIPTION");
	print_paragraphs(rcore_cli_description);
	for (int topic = 0; topic < RCORE_TOPIC_COUNT; topic++) {
		printf("%s.SS ", topic ? "" : ".SH COMMANDS\n");
		print_text(rcore_help_topic((enum rcore_topic)topic));
		putchar('\n');
		for (size_t i = 0; i < rcore_cli_list_count; i++)
			for (const struct rcore_command *const *command = rcore_cli_lists[i];
			     *command; command++)
				if ((*command)->name && (int)(*command)->topic == topic) {
					fputs(".TP\n.BR rcore\\-", stdout);
					print_text((*command)->name);
					puts(" (1)");
					print_paragraphs((*command)->summary);
				}
	}
	puts(".SH EXAMPLES");
	print_block(rcore_cli_examples);
	puts(".SH EXIT STATUS");
	print_paragraphs(strchr(rcore_help_status(rcore_cli_find("analyze")), ':') + 2);
}

/* argv[0] is "manual". */
int rcore_cli_manual(int argc, char **argv)
{
	const struct rcore_command *command = argc > 1 ? rcore_cli_find(argv[1]) : NULL;
	if (argc < 2) {
		print_index();
		return 0;
	}
	if (!command) {
		char escaped[128];
		fprintf(stderr, "rcore: unknown command '%s'; see rcore --help\n",
			rcore_escape(escaped, sizeof(escaped), argv[1]));
		return EX_USAGE;
	}
	if (print_command(command))
		return 0;
	fputs("rcore: out of memory\n", stderr);
	return EX_OSERR;
}
