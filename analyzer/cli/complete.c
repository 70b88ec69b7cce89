/* SPDX-License-Identifier: MIT */
#include "cli/complete.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "cli/list.h"
#include "cli/options.h"
#include "command/list.h"

/* A command line up to the word to complete. */
struct line {
	const struct rcore_command *command;
	struct rcore_option_group groups[RCORE_CLI_GROUPS];
	size_t group_count;
	const char *const *words; /* after the command */
	size_t count;
	const char *begun;
	/* "--fiber=" if `begun` follows it; otherwise "". */
	const char *prefix;
	size_t operands; /* among the words */
	/* The option whose value is to be completed. */
	const struct rcore_option *pending;
	bool has_pid, in_rest;
	bool wants_files;
};

/*
 * A shell inserts the completion into the command line. Words may come from a
 * hostile core, so skips words with characters that a shell interprets.
 */
static bool is_harmless(const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.:@+";
	return word[0] && word[strspn(word, letters)] == '\0';
}

/* Prints the first sentence or clause of `help`. */
static void print_meaning(const char *help)
{
	static const char *const ends[] = {". ", ": ", "; ", " ("};
	size_t length = strlen(help);
	for (size_t i = 0; i < RCORE_COUNT(ends); i++) {
		const char *end = strstr(help, ends[i]);
		if (end && (size_t)(end - help) < length)
			length = (size_t)(end - help);
	}
	char *first = strndup(help, length);
	if (first)
		rcore_escape_write(stdout, first);
	free(first);
}

static void offer(void *context, const char *word, const char *help)
{
	const struct line *line = context;
	if (strncmp(word, line->begun, strlen(line->begun)) != 0 || !is_harmless(word))
		return;
	printf("%s%s", line->prefix, word);
	if (help && help[0]) {
		putchar('\t');
		print_meaning(help);
	}
	putchar('\n');
}

static void offer_commands(struct line *line)
{
	for (size_t i = 0; i < rcore_cli_list_count; i++)
		for (const struct rcore_command *const *command = rcore_cli_lists[i]; *command;
		     command++)
			if ((*command)->name)
				offer(line, (*command)->name, (*command)->summary);
}

static void offer_value(struct line *line, enum rcore_completion kind)
{
	if (kind == RCORE_COMPLETE_FILE)
		line->wants_files = true;
	else if (kind != RCORE_COMPLETE_NOTHING)
		rcore_cli_complete_in_target(line->command, (int)line->count, line->words, kind,
					     line->begun, offer, line);
}

static void offer_option_value(struct line *line, const struct rcore_option *option)
{
	const char *const *choice = option->choices;
	if (option->kind == RCORE_OPTION_PID)
		rcore_cli_complete_process(offer, line);
	for (; option->kind == RCORE_OPTION_CHOICE && choice && *choice; choice++)
		offer(line, *choice, NULL);
	offer_value(line, option->completion);
}

static void offer_options(struct line *line)
{
	char word[64];
	for (size_t i = 0; i < line->group_count; i++) {
		const struct rcore_option *option = line->groups[i].options;
		for (; option && option->name; option++) {
			snprintf(word, sizeof(word), "--%s", option->name);
			offer(line, word, option->help);
		}
	}
}

/*
 * CORE and EXE are files; the command declares how to complete its other words.
 */
static void offer_operand(struct line *line)
{
	const struct rcore_command *command = line->command;
	const struct rcore_command *const *sub = command->subcommands;
	bool has_target = command->input != RCORE_INPUT_TARGET || line->has_pid;
	for (; sub && *sub && !line->operands; sub++)
		offer(line, (*sub)->name, (*sub)->summary);
	if (!has_target && line->operands < 2)
		line->wants_files = true;
	if ((has_target || line->operands) && command->words)
		offer_value(line, command->completion);
}

static const struct rcore_option *find_option(const struct line *line, const char *name,
					      size_t size, char letter)
{
	for (size_t i = 0; i < line->group_count; i++) {
		const struct rcore_option *option = line->groups[i].options;
		for (; option && option->name; option++)
			if (letter ? option->letter == letter
				   : strlen(option->name) == size &&
					     memcmp(option->name, name, size) == 0)
				return option;
	}
	return NULL;
}

/*
 * Returns the option at the end of `word` if a value must follow it, either in
 * the next word or at *ret_value. Of several letters, such as -jp, this is the
 * last one.
 */
static const struct rcore_option *option_of(struct line *line, const char *word,
					    const char **ret_value)
{
	const struct rcore_option *option = NULL;
	*ret_value = NULL;
	if (word[1] == '-') {
		size_t size = strcspn(word + 2, "=");
		option = find_option(line, word + 2, size, 0);
		*ret_value = word[2 + size] ? word + 2 + size + 1 : NULL;
	}
	for (const char *at = word + 1; word[1] != '-' && *at; at++) {
		option = find_option(line, "", 0, *at);
		if (!option || option->kind == RCORE_OPTION_FLAG)
			continue;
		*ret_value = at[1] ? at + 1 : NULL;
		break;
	}
	line->has_pid |= option && option->kind == RCORE_OPTION_PID;
	if (!option || option->kind == RCORE_OPTION_FLAG || (option->implied && !*ret_value))
		return NULL;
	return option;
}

/* Finds out what precedes the word to complete. */
static void read_words(struct line *line)
{
	const char *value;
	for (size_t i = 0; i < line->count && !line->in_rest; i++) {
		const char *word = line->words[i];
		if (line->pending) {
			line->pending = NULL;
		} else if (strcmp(word, "--") == 0) {
			line->in_rest = true;
		} else if (word[0] == '-' && word[1]) {
			line->pending = option_of(line, word, &value);
			if (value)
				line->pending = NULL;
		} else {
			line->operands++;
		}
	}
}

static void complete_word(struct line *line)
{
	const char *value = NULL;
	const struct rcore_option *option = NULL;
	char *prefix = NULL;
	read_words(line);
	if (line->in_rest) {
		line->wants_files = true;
		return;
	}
	if (line->pending) {
		line->count--;
		offer_option_value(line, line->pending);
		return;
	}
	if (strncmp(line->begun, "--", 2) == 0)
		option = option_of(line, line->begun, &value);
	if (option && value) {
		prefix = strndup(line->begun, (size_t)(value - line->begun));
		line->prefix = prefix ? prefix : "";
		line->begun = value;
		offer_option_value(line, option);
		free(prefix);
	} else if (line->begun[0] == '-') {
		offer_options(line);
	} else {
		offer_operand(line);
	}
}

static void complete_command(struct line *line)
{
	offer_commands(line);
	offer(line, "help", "explain a command");
	offer(line, "--help", "print the commands");
	offer(line, "--version", "print the version");
	line->wants_files = true;
}

/* argv[0] is "complete". */
int rcore_cli_complete(int argc, char **argv)
{
	struct line line = {.prefix = "", .begun = argc > 1 ? argv[argc - 1] : ""};
	const char *const *words = (const char *const *)argv + 1;
	size_t count = argc > 2 ? (size_t)argc - 2 : 0;
	if (!count) {
		complete_command(&line);
	} else if (strcmp(words[0], "help") == 0) {
		offer_commands(&line);
	} else {
		line.command = rcore_cli_find(words[0]);
		/* `rcore CORE` means `rcore analyze CORE`. */
		size_t used = line.command ? 1 : 0;
		if (!line.command)
			line.command = rcore_cli_find("analyze");
		const struct rcore_command *sub =
			used < count ? rcore_find_subcommand(line.command, words[used]) : NULL;
		if (sub) {
			line.command = sub;
			used++;
		}
		line.words = words + used;
		line.count = count - used;
		line.group_count =
			rcore_cli_groups(line.command, NULL, NULL, NULL, line.groups);
		complete_word(&line);
	}
	if (line.wants_files)
		puts(":files");
	return 0;
}
