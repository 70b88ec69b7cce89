/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "command/command.h"
#include "command/nearest.h"

/*
 * This uses getopt_long() because argp prints its errors to standard error
 * itself, and inside a debugger they must be the command's error.
 */

/*
 * The values that identify long options for getopt_long(), greater than any
 * letter.
 */
enum { KEY_FIRST = 0x100 };

/* An option and the struct that it sets. */
struct found {
	const struct rcore_option *option;
	void *arguments;
};

struct found_list {
	struct found *items;
	size_t count, capacity;
};

/* What getopt_long() needs. */
struct tables {
	struct found_list found;
	struct option *long_options;
	char *letters;
};

static bool takes_value(const struct rcore_option *option)
{
	return option->kind != RCORE_OPTION_FLAG;
}

static bool list_options(const struct rcore_command_line *line, struct found_list *ret)
{
	for (size_t i = 0; i < line->group_count; i++) {
		const struct rcore_option *option = line->groups[i].options;
		for (; option && option->name; option++) {
			struct found *found = rcore_push(ret);
			if (!found)
				return false;
			*found = (struct found){option, line->groups[i].arguments};
		}
	}
	return true;
}

static struct rcore_error *make_tables(const struct rcore_command_line *line,
				       struct tables *tables)
{
	/*
	 * "-": return arguments in order, whatever POSIXLY_CORRECT says; ":":
	 * print no message.
	 */
	enum { FIXED = 2 };
	if (!list_options(line, &tables->found))
		return rcore_error_no_memory();
	size_t count = tables->found.count, at = FIXED;
	tables->long_options = calloc(count + 1, sizeof(*tables->long_options));
	tables->letters = calloc(1, FIXED + 2 * count + 1);
	if (!tables->long_options || !tables->letters)
		return rcore_error_no_memory();
	memcpy(tables->letters, "-:", FIXED);
	for (size_t i = 0; i < count; i++) {
		const struct rcore_option *option = tables->found.items[i].option;
		tables->long_options[i] = (struct option){
			.name = option->name,
			.has_arg = !takes_value(option) ? no_argument
				   : option->implied    ? optional_argument
							: required_argument,
			.val = KEY_FIRST + (int)i,
		};
		if (option->letter) {
			tables->letters[at++] = option->letter;
			if (takes_value(option))
				tables->letters[at++] = ':';
		}
	}
	return NULL;
}

static void free_tables(struct tables *tables)
{
	free(tables->found.items);
	free(tables->long_options);
	free(tables->letters);
}

/* Returns the option of a key, or NULL for getopt's own keys. */
static const struct found *find(const struct tables *tables, int key)
{
	for (size_t i = 0; i < tables->found.count; i++)
		if (key == KEY_FIRST + (int)i ||
		    (key && key == tables->found.items[i].option->letter))
			return &tables->found.items[i];
	return NULL;
}

static struct rcore_error *complain(const char *before, const char *word, const char *after)
{
	char escaped[64];
	return rcore_error_create(RCORE_ERROR_USAGE, "%s '%s'%s", before,
				  rcore_escape(escaped, sizeof(escaped), word), after);
}

/* Suggests the option that the user may mean by `word`. */
static struct rcore_error *complain_unknown(const struct tables *tables, const char *word)
{
	struct rcore_nearest nearest = {word + 2, strcspn(word + 2, "="), NULL, 0};
	char after[64] = "";
	for (size_t i = 0; i < tables->found.count; i++)
		rcore_nearest_compare(&nearest, tables->found.items[i].option->name);
	if (nearest.name)
		snprintf(after, sizeof(after), " (did you mean --%s?)", nearest.name);
	return complain("unknown option", word, after);
}

/* Names the options that `word` may abbreviate, if there are several. */
static struct rcore_error *complain_name(const struct tables *tables, const char *word)
{
	size_t size = strcspn(word + 2, "="), count = 0, at = 0;
	char list[128] = "";
	for (size_t i = 0; i < tables->found.count; i++) {
		const char *name = tables->found.items[i].option->name;
		if (!size || strncmp(name, word + 2, size) != 0)
			continue;
		if (at < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s--%s",
					       count ? ", " : "", name);
		count++;
	}
	if (count < 2)
		return complain_unknown(tables, word);
	struct rcore_error *plain = complain("option", word, " is ambiguous");
	struct rcore_error *err =
		rcore_error_create(RCORE_ERROR_USAGE, "%s: %s", plain->message, list);
	rcore_error_free(plain);
	return err;
}

/* `key` is what getopt_long() returned for a wrong argument: '?' or ':'. */
static struct rcore_error *complain_option(const struct tables *tables, char **argv, int key)
{
	const struct found *found = optopt ? find(tables, optopt) : NULL;
	const char *word = argv[optind - 1];
	char name[64];
	if (found && optopt >= KEY_FIRST)
		snprintf(name, sizeof(name), "--%s", found->option->name);
	else
		snprintf(name, sizeof(name), "-%c", optopt);
	if (found && key == ':')
		return complain("option", name, " requires a value");
	if (found)
		return complain("option", name, " does not accept a value");
	return optopt ? complain("unknown option", name, "") : complain_name(tables, word);
}

/* -p: which process it names depends on --children, which may follow it. */
struct named_process {
	const struct found *option; /* NULL: not given */
	const char *value;
	bool has_descendants;
};

static struct rcore_error *set_option(const struct found *found, struct named_process *process)
{
	const char *value = optarg ? optarg : found->option->implied;
	process->has_descendants |= found->option->adds_descendants;
	if (found->option->kind != RCORE_OPTION_PID)
		return rcore_option_set(found->option, found->arguments, value, false);
	process->option = found;
	process->value = value;
	return NULL;
}

static struct rcore_error *find_named(const struct named_process *process)
{
	if (!process->option)
		return NULL;
	return rcore_option_set(process->option->option, process->option->arguments,
				process->value, process->has_descendants);
}

static struct rcore_error *parse_words(struct rcore_command_line *line,
				       const struct tables *tables, int argc, char **argv)
{
	struct rcore_error *err = NULL;
	struct named_process process = {0};
	int key;
	optind = 0; /* glibc and musl: start again */
	opterr = 0;
	optopt = 0;
	while (!err && (key = getopt_long(argc, argv, tables->letters, tables->long_options,
					  NULL)) != -1) {
		const struct found *found = find(tables, key);
		if (key == 1)
			err = rcore_strings_add(&line->words, optarg);
		else if (key == '?' || key == ':')
			err = complain_option(tables, argv, key);
		else if (found)
			err = set_option(found, &process);
		optopt = 0;
	}
	for (int i = optind; !err && i < argc; i++)
		err = rcore_strings_add(line->has_rest ? &line->rest : &line->words, argv[i]);
	return err ? err : find_named(&process);
}

struct rcore_error *rcore_command_line_parse(struct rcore_command_line *line, int argc,
					     const char *const *argv)
{
	struct tables tables = {0};
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	struct rcore_error *err = copy ? make_tables(line, &tables) : rcore_error_no_memory();
	if (!err) {
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
		err = parse_words(line, &tables, argc, copy);
	}
	free_tables(&tables);
	free(copy);
	return err;
}

void rcore_command_line_deinit(struct rcore_command_line *line)
{
	for (size_t i = 0; i < line->group_count; i++) {
		const struct rcore_option_group *group = &line->groups[i];
		const struct rcore_option *option = group->options;
		for (; option && option->name; option++)
			if (option->kind == RCORE_OPTION_LIST)
				free(((struct rcore_strings *)((char *)group->arguments +
							       option->offset))
					     ->items);
	}
	free(line->words.items);
	free(line->rest.items);
	line->words = line->rest = (struct rcore_strings){0};
}
