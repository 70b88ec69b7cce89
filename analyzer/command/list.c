/* SPDX-License-Identifier: MIT */
#include "command/list.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "command/nearest.h"

#define ROW(name) &rcore_command_##name,
const struct rcore_command *const rcore_commands[] = {RCORE_COMMANDS(ROW) NULL};

const struct rcore_command *rcore_find_subcommand(const struct rcore_command *command,
						  const char *word)
{
	const struct rcore_command *const *sub = command->subcommands;
	const char *name = word && strncmp(word, "--", 2) == 0 ? word + 2 : word;
	for (; name && sub && *sub; sub++)
		if (strcmp((*sub)->name, name) == 0)
			return *sub;
	return NULL;
}

static struct rcore_error *check_word(const struct rcore_command *command, const char *word)
{
	struct rcore_nearest nearest = {word, strlen(word), NULL, 0};
	char escaped[64];
	for (const struct rcore_command *const *sub = command->subcommands; sub && *sub; sub++)
		rcore_nearest_compare(&nearest, (*sub)->name);
	if (!nearest.name || access(word, F_OK) == 0)
		return NULL;
	if (nearest.distance == 0)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"put the subcommand before the core and the options: `rcore %s %s ...`",
			command->name, word);
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"'%s' is neither a subcommand nor a file (did you mean `rcore %s %s`?)",
		rcore_escape(escaped, sizeof(escaped), word), command->name, nearest.name);
}

/*
 * A word of only letters and hyphens is more likely a mistyped subcommand than
 * a core that does not exist.
 */
static struct rcore_error *check_first(const struct rcore_command *command, const char *word)
{
	char escaped[64];
	if (!command->subcommands || !word[0] || word[0] == '-' ||
	    word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] || access(word, F_OK) == 0)
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE, "'%s' is neither a subcommand nor a file",
				  rcore_escape(escaped, sizeof(escaped), word));
}

struct rcore_error *rcore_check_subcommand(const struct rcore_command *command,
					   const struct rcore_strings *words)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < words->count && !err; i++)
		err = check_word(command, words->items[i]);
	return err || !words->count ? err : check_first(command, words->items[0]);
}
