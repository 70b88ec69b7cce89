/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command/command.h"

static struct rcore_error *bad_value(const struct rcore_option *option, const char *value)
{
	char escaped[64];
	rcore_escape(escaped, sizeof(escaped), value);
	if (!option->choices)
		return rcore_error_create(RCORE_ERROR_USAGE, "--%s takes a number, not '%s'",
					  option->name, escaped);
	char choices[128] = "";
	for (size_t i = 0, at = 0; option->choices[i] && at < sizeof(choices); i++)
		at += (size_t)snprintf(choices + at, sizeof(choices) - at, "%s%s",
				       !i                       ? ""
				       : option->choices[i + 1] ? ", "
								: " or ",
				       option->choices[i]);
	return rcore_error_create(RCORE_ERROR_USAGE, "--%s is %s, not '%s'", option->name,
				  choices, escaped);
}

struct rcore_error *rcore_word_add(struct rcore_words *words, const char *word)
{
	if (words->count == RCORE_MAX_WORDS)
		return rcore_error_create(RCORE_ERROR_USAGE, "more than %d words",
					  RCORE_MAX_WORDS);
	words->items[words->count++] = word;
	return NULL;
}

static bool parse_number(const char *text, size_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (end == text || *end || text[0] == '-' || errno)
		return false;
	*ret = number;
	return true;
}

static bool parse_choice(const char *const *choices, const char *text, int *ret)
{
	for (int i = 0; choices[i]; i++) {
		if (strcmp(choices[i], text) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

struct rcore_error *rcore_option_set(const struct rcore_option *option, void *arguments,
				     const char *value)
{
	void *member = (char *)arguments + option->offset;
	switch (option->kind) {
	case RCORE_OPTION_FLAG:
		*(bool *)member = true;
		return NULL;
	case RCORE_OPTION_TEXT:
		*(const char **)member = value;
		return NULL;
	case RCORE_OPTION_NUMBER:
		return parse_number(value, member) ? NULL : bad_value(option, value);
	case RCORE_OPTION_INDEX:
		((struct rcore_index *)member)->is_given = true;
		return parse_number(value, &((struct rcore_index *)member)->number)
			       ? NULL
			       : bad_value(option, value);
	case RCORE_OPTION_CHOICE:
		return parse_choice(option->choices, value, member) ? NULL
								    : bad_value(option, value);
	case RCORE_OPTION_LIST:
		return rcore_word_add(member, value);
	}
	return NULL;
}

static struct rcore_error *complain(const char *what, const char *word)
{
	char escaped[64];
	return rcore_error_create(RCORE_ERROR_USAGE, "%s '%s'", what,
				  rcore_escape(escaped, sizeof(escaped), word));
}

/* As getopt_long: a name may be cut short where only one begins so. */
static const struct rcore_option *find_name(const struct rcore_option *options,
					    const char *name, size_t size)
{
	const struct rcore_option *found = NULL;
	for (const struct rcore_option *option = options; option && option->name; option++) {
		if (strncmp(option->name, name, size) != 0)
			continue;
		if (option->name[size] == '\0')
			return option;
		if (found)
			return NULL;
		found = option;
	}
	return found;
}

static const struct rcore_option *find_letter(const struct rcore_command *command, char letter)
{
	for (const struct rcore_option *option = command->options; option && option->name;
	     option++)
		if (option->letter == letter)
			return option;
	return NULL;
}

struct line {
	const struct rcore_command *command;
	const char *const *argv;
	int argc, at;
	void *arguments;
	struct rcore_common *common;
};

/* `value` stands in the same word; NULL: in the next, if at all. */
static struct rcore_error *set(struct line *line, const struct rcore_option *option,
			       void *arguments, const char *value)
{
	const char *word = line->argv[line->at];
	if (option->kind == RCORE_OPTION_FLAG)
		return value ? complain("takes no value:", word)
			     : rcore_option_set(option, arguments, NULL);
	if (!value) {
		if (line->at + 1 == line->argc)
			return complain("a value is missing behind", word);
		value = line->argv[++line->at];
	}
	return rcore_option_set(option, arguments, value);
}

static struct rcore_error *parse_name(struct line *line)
{
	const char *name = line->argv[line->at] + 2;
	size_t size = strcspn(name, "=");
	const char *value = name[size] ? name + size + 1 : NULL;
	const struct rcore_option *option =
		size ? find_name(line->command->options, name, size) : NULL;
	if (option)
		return set(line, option, line->arguments, value);
	option = size ? find_name(rcore_common_options, name, size) : NULL;
	if (option)
		return set(line, option, line->common, value);
	return complain("no option is called", line->argv[line->at]);
}

static struct rcore_error *parse_letters(struct line *line)
{
	struct rcore_error *err = NULL;
	int at = line->at;
	for (const char *letter = line->argv[at] + 1; *letter && !err; letter++) {
		const struct rcore_option *option = find_letter(line->command, *letter);
		if (!option)
			return complain("no option is called", line->argv[at]);
		if (option->kind != RCORE_OPTION_FLAG)
			return set(line, option, line->arguments,
				   letter[1] ? letter + 1 : NULL);
		err = rcore_option_set(option, line->arguments, NULL);
	}
	return err;
}

struct rcore_error *rcore_command_parse(const struct rcore_command *command, int argc,
					const char *const *argv, void *arguments,
					struct rcore_common *common)
{
	struct line line = {command, argv, argc, 1, arguments, common};
	struct rcore_error *err = NULL;
	bool is_option = true;
	for (; line.at < argc && !err; line.at++) {
		const char *word = argv[line.at];
		if (is_option && strcmp(word, "--") == 0)
			is_option = false;
		else if (is_option && strncmp(word, "--", 2) == 0)
			err = parse_name(&line);
		else if (is_option && word[0] == '-' && word[1])
			err = parse_letters(&line);
		else if (command->words)
			err = rcore_word_add(
				(void *)((char *)arguments + command->words_offset), word);
		else
			err = complain("takes no word such as", word);
	}
	return err;
}
