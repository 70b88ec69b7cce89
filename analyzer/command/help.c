/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "command/command.h"

enum { DEFAULT_WIDTH = 80, OPTION_COLUMN = 26, LIST_COLUMN = 28 };

/* The exit status of most commands. */
static const char usual_status[] =
	"Exit status: 0 everything was decoded; 1 a thread, fiber or frame could not be "
	"decoded (the rest is printed); 2 nothing was decoded, or the report could not be "
	"written; 3 not a Ruby process; 64 wrong usage.";

static size_t width_of(const struct rcore_help_style *style)
{
	return style->width ? style->width : DEFAULT_WIDTH;
}

static void pad(size_t from, size_t to, FILE *out)
{
	for (; from < to; from++)
		putc(' ', out);
}

void rcore_help_wrap(const char *text, size_t at, size_t indent, size_t width, FILE *out)
{
	bool begins = true;
	while (*text) {
		size_t length = strcspn(text, " \n");
		if (!begins && at + 1 + length > width) {
			putc('\n', out);
			at = 0;
			begins = true;
		}
		if (begins && length) {
			pad(at, indent, out);
			at = at < indent ? indent : at;
		} else if (length) {
			putc(' ', out);
			at++;
		}
		fwrite(text, 1, length, out);
		at += length;
		begins = begins && !length;
		text += length;
		if (*text == '\n') {
			putc('\n', out);
			at = 0;
			begins = true;
		}
		text += *text != '\0';
	}
	putc('\n', out);
}

static void print_option(const struct rcore_option *option, size_t width, FILE *out)
{
	char head[64];
	const char letter[] = {'-', option->letter, ',', ' ', '\0'};
	snprintf(head, sizeof(head), "  %s--%s%s%s%s%s", option->letter ? letter : "    ",
		 option->name, option->implied ? "[" : "", option->value ? "=" : "",
		 option->value ? option->value : "", option->implied ? "]" : "");
	fputs(head, out);
	size_t at = strlen(head);
	if (at + 2 > OPTION_COLUMN) {
		putc('\n', out);
		at = 0;
	}
	rcore_help_wrap(option->help, at, OPTION_COLUMN, width, out);
}

static void print_options(const struct rcore_option_group *group, size_t width, FILE *out)
{
	if (!group->options || !group->options->name)
		return;
	if (!group->heading || *group->heading)
		fprintf(out, "\n%s:\n", group->heading ? group->heading : "Options");
	for (const struct rcore_option *option = group->options; option->name; option++)
		print_option(option, width, out);
}

static void print_words(const struct rcore_command *command, FILE *out)
{
	if (command->words)
		fprintf(out, " %s", command->words);
	if (command->rest)
		fprintf(out, " [-- %s]", command->rest);
	putc('\n', out);
}

/* `first` precedes the first line, and `others` precedes the other lines. */
static void print_usage(const struct rcore_command *command, const char *name, bool in_shell,
			bool has_options, const char *first, const char *others, FILE *out)
{
	const char *options = has_options ? " [OPTION...]" : "";
	if (in_shell && command->input == RCORE_INPUT_TARGET) {
		fprintf(out, "%s%s%s CORE [EXE]", first, name, options);
		if (!command->is_for_cores) {
			print_words(command, out);
			fprintf(out, "%s%s%s -p PID", others, name, options);
		}
	} else {
		fprintf(out, "%s%s%s", first, name, options);
	}
	print_words(command, out);
	for (const struct rcore_command *const *sub = command->subcommands; sub && *sub;
	     sub++) {
		fprintf(out, "%s%s %s%s", others, name, (*sub)->name,
			in_shell && (*sub)->input == RCORE_INPUT_TARGET ? " TARGET" : "");
		print_words(*sub, out);
	}
}

/* In the shell, where `prompt` is NULL, examples have a target. */
static void print_examples(const struct rcore_command *command, const char *name,
			   const char *prompt, const char *indent, FILE *out)
{
	const char *target =
		!prompt && command->input == RCORE_INPUT_TARGET ? " core.1234" : "";
	const char *const *shell = prompt ? NULL : command->shell_examples;
	for (const char *const *example = command->examples; example && *example; example++)
		fprintf(out, "%s%s%s%s%s%s\n", indent, prompt ? prompt : "", name, target,
			(*example)[0] ? " " : "", *example);
	for (; shell && *shell; shell++)
		fprintf(out, "%s%s\n", indent, *shell);
}

enum { NAME_SIZE = 64 };

static const char *shell_name(const struct rcore_command *command,
			      const struct rcore_command *parent, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "rcore %s%s%s", parent ? parent->name : "", parent ? " " : "",
		 command->name);
	return name;
}

void rcore_help_usage(const struct rcore_command *command, const struct rcore_command *parent,
		      FILE *out)
{
	char name[NAME_SIZE];
	print_usage(command, shell_name(command, parent, name), true, true, "", "", out);
}

void rcore_help_examples(const struct rcore_command *command,
			 const struct rcore_command *parent, FILE *out)
{
	char name[NAME_SIZE];
	print_examples(command, shell_name(command, parent, name), NULL, "", out);
}

const char *rcore_help_status(const struct rcore_command *command)
{
	return command->exit_status ? command->exit_status : usual_status;
}

/* Debuggers list commands with the first line of their help. */
static void print_summary(const struct rcore_command *command, FILE *out)
{
	fprintf(out, "%c%s.\n\n", toupper((unsigned char)command->summary[0]),
		command->summary + 1);
}

void rcore_help_command(const struct rcore_command *command, const struct rcore_command *parent,
			const struct rcore_option_group *groups, size_t group_count,
			const struct rcore_help_style *style, FILE *out)
{
	char name[NAME_SIZE];
	size_t width = width_of(style);
	bool has_options = false;
	if (style->prompt && parent)
		snprintf(name, sizeof(name), "ruby-%s %s", parent->verb, command->name);
	else if (style->prompt)
		snprintf(name, sizeof(name), "ruby-%s", command->verb);
	else
		shell_name(command, parent, name);
	for (size_t i = 0; i < group_count; i++)
		has_options |= groups[i].options && groups[i].options->name;
	if (style->prompt)
		print_summary(command, out);
	print_usage(command, name, !style->prompt, has_options, "Usage: ", "       ", out);
	putc('\n', out);
	rcore_help_wrap(command->doc, 0, 0, width, out);
	for (size_t i = 0; i < group_count; i++)
		print_options(&groups[i], width, out);
	if (command->examples || (command->shell_examples && !style->prompt)) {
		fputs("\nExamples:\n\n", out);
		print_examples(command, name, style->prompt, "  ", out);
	}
	if (style->prompt)
		return;
	putc('\n', out);
	rcore_help_wrap(rcore_help_status(command), 0, 0, width, out);
}

static const char *const topics[RCORE_TOPIC_COUNT] = {
	[RCORE_TOPIC_LOOK] = "Look at a core or a running process",
	[RCORE_TOPIC_TIME] = "See where time goes",
	[RCORE_TOPIC_CORES] = "Work with core files",
	[RCORE_TOPIC_DEBUGGER] = "Start a debugger",
	[RCORE_TOPIC_SELF] = "Find out how rcore knows",
};

const char *rcore_help_topic(enum rcore_topic topic)
{
	return topics[topic];
}

static void list_command(const struct rcore_command *command, size_t width, FILE *out)
{
	char head[64];
	snprintf(head, sizeof(head), "  %s%s%s%s", command->name,
		 command->input != RCORE_INPUT_TARGET ? ""
		 : command->is_for_cores              ? " CORE [EXE]"
						      : " TARGET",
		 command->words ? " " : "", command->words ? command->words : "");
	fputs(head, out);
	size_t at = strlen(head);
	if (at + 2 > LIST_COLUMN) {
		putc('\n', out);
		at = 0;
	}
	rcore_help_wrap(command->summary, at, LIST_COLUMN, width, out);
}

void rcore_help_list(const struct rcore_command *const *const *lists, size_t list_count,
		     const struct rcore_help_style *style, FILE *out)
{
	for (int topic = 0; topic < RCORE_TOPIC_COUNT; topic++) {
		fprintf(out, "\n%s:\n", topics[topic]);
		for (size_t i = 0; i < list_count; i++)
			for (const struct rcore_command *const *command = lists[i]; *command;
			     command++)
				if ((*command)->name && (int)(*command)->topic == topic)
					list_command(*command, width_of(style), out);
	}
}
