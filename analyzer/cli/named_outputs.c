/* SPDX-License-Identifier: MIT */
#include "cli/named_outputs.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "%p";

static struct rcore_error *check(const struct rcore_option *option, const char *path)
{
	if (strstr(path, mark))
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"option '--%s' with --children requires %s in the name of the file, which "
		"becomes the pid of each process",
		option->name, mark);
}

struct rcore_error *rcore_named_outputs_check(const struct rcore_command *command,
					      const void *arguments)
{
	struct rcore_error *err = NULL;
	const struct rcore_option *option = command->options;
	for (; option && option->name && !err; option++) {
		const void *member = (const char *)arguments + option->offset;
		if (!option->writes)
			continue;
		if (option->kind == RCORE_OPTION_LIST) {
			const struct rcore_strings *list = member;
			for (size_t i = 0; i < list->count && !err; i++)
				err = check(option, list->items[i]);
		} else if (*(const char *const *)member) {
			err = check(option, *(const char *const *)member);
		}
	}
	return err;
}

/* Returns `path` with the pid at each mark, malloc'ed, or NULL. */
static char *name_for(const char *path, int pid)
{
	char *name = NULL;
	size_t size;
	FILE *out = rcore_open_text(&name, &size);
	if (!out)
		return NULL;
	for (const char *at; (at = strstr(path, mark)); path = at + strlen(mark))
		fprintf(out, "%.*s%d", (int)(at - path), path, pid);
	fputs(path, out);
	if (!fclose(out))
		return name;
	free(name);
	return NULL;
}

static bool name_list(struct rcore_strings *list, int pid)
{
	const struct rcore_strings given = *list;
	*list = (struct rcore_strings){0};
	for (size_t i = 0; i < given.count; i++) {
		char *name = name_for(given.items[i], pid);
		struct rcore_error *err =
			name ? rcore_strings_add(list, name) : rcore_error_no_memory();
		if (err) {
			rcore_error_free(err);
			free(name);
			return false;
		}
	}
	return true;
}

struct rcore_error *rcore_named_outputs_copy(const struct rcore_command *command,
					     const void *arguments, int pid, void **ret)
{
	const struct rcore_option *option = command->options;
	char *copy = malloc(command->size + 1);
	if (!copy)
		return rcore_error_no_memory();
	memcpy(copy, arguments, command->size);
	bool done = true;
	for (; option && option->name; option++) {
		void *member = copy + option->offset;
		if (!option->writes)
			continue;
		if (option->kind == RCORE_OPTION_LIST) {
			done = name_list(member, pid) && done;
		} else if (*(char **)member) {
			*(char **)member = name_for(*(char **)member, pid);
			done = done && *(char **)member;
		}
	}
	if (!done) {
		rcore_named_outputs_free(command, copy);
		return rcore_error_no_memory();
	}
	*ret = copy;
	return NULL;
}

void rcore_named_outputs_free(const struct rcore_command *command, void *copy)
{
	const struct rcore_option *option = command->options;
	for (; copy && option && option->name; option++) {
		void *member = (char *)copy + option->offset;
		if (!option->writes)
			continue;
		if (option->kind == RCORE_OPTION_LIST) {
			struct rcore_strings *list = member;
			for (size_t i = 0; i < list->count; i++)
				free((void *)list->items[i]);
			free(list->items);
		} else {
			free(*(char **)member);
		}
	}
	free(copy);
}
