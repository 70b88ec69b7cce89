/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bridge.h"
#include "command/list.h"

const char *rcore_plugin_verb(const struct rcore_command *command, int index)
{
	const char *name = command->name;
	if (!index || !command->verb)
		return index ? NULL : command->verb;
	return name && strcmp(name, command->verb) != 0 ? name : NULL;
}

static const struct rcore_command *find_verb(const char *verb)
{
	for (const struct rcore_command *const *command = rcore_commands; *command; command++)
		for (int i = 0; i < RCORE_PLUGIN_VERBS; i++) {
			const char *own = rcore_plugin_verb(*command, i);
			if (own && strcmp(own, verb) == 0)
				return *command;
		}
	return NULL;
}

static void help_subcommands(const struct rcore_command *command,
			     const struct rcore_help_style *style, FILE *out)
{
	const struct rcore_command *const *sub = command->subcommands;
	for (; sub && *sub; sub++) {
		const struct rcore_option_group own = {NULL, (*sub)->options, NULL};
		fprintf(out, "\nruby-%s %s: ", command->verb, (*sub)->name);
		rcore_help_command(*sub, command, &own, 1, style, out);
	}
}

char *rcore_plugin_help(const char *verb, const char *prompt)
{
	const struct rcore_help_style style = {.prompt = prompt};
	const struct rcore_command *command = find_verb(verb);
	const struct rcore_option_group groups[] = {
		{NULL, command ? command->options : NULL, NULL},
		{"Every command", rcore_common_options, NULL},
	};
	char *text = NULL;
	size_t size;
	FILE *out = command ? rcore_open_text(&text, &size) : NULL;
	if (!out)
		return NULL;
	struct rcore_command named = *command;
	named.verb = verb;
	rcore_help_command(&named, NULL, groups, command->run ? 2 : 0, &style, out);
	help_subcommands(&named, &style, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Puts the arguments of `line` into the command's member for them. */
static struct rcore_error *place_words(const struct rcore_command *command,
				       struct rcore_command_line *line, void *arguments)
{
	char escaped[64];
	if (!command->words && line->words.count)
		return rcore_error_create(
			RCORE_ERROR_USAGE, "unexpected argument '%s'",
			rcore_escape(escaped, sizeof(escaped), line->words.items[0]));
	if (command->words)
		*(struct rcore_strings *)((char *)arguments + command->operands_offset) =
			line->words;
	return NULL;
}

static struct rcore_error *parse(const struct rcore_command *command, const char *verb,
				 int32_t argc, const char *const *argv,
				 struct rcore_command_line *line, void *arguments)
{
	const char *const usual[] = {"", command->in_debugger};
	struct rcore_error *err = NULL;
	if (command->in_debugger)
		err = rcore_command_line_parse(line, 2, usual);
	if (!err)
		err = rcore_command_line_parse(line, argc, argv);
	if (!err)
		err = place_words(command, line, arguments);
	if (!err)
		return NULL;
	struct rcore_error *wrapped = rcore_error_create(
		RCORE_ERROR_USAGE, "%s; see help ruby-%s", err->message, verb);
	rcore_error_free(err);
	return wrapped;
}

static struct rcore_error *show(struct rcore_plugin *plugin,
				const struct rcore_command *command, const void *arguments,
				const struct rcore_common *common, char **ret)
{
	char *text = NULL;
	size_t size;
	struct rcore_view *view;
	struct rcore_options options = {.redact = (enum rcore_redact)common->redact};
	rcore_plugin_retry(plugin);
	if (command->prepare)
		command->prepare(arguments, &options);
	bool is_special = options.values.self || options.values.arguments ||
			  options.values.locals || options.redact;
	struct rcore_error *err = is_special
					  ? rcore_plugin_view_special(plugin, &options, &view)
					  : rcore_plugin_view(plugin, options.no_native, &view);
	if (err)
		return err;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	err = command->run(view, arguments, out);
	plugin->is_partial = view->is_partial;
	if (fclose(out) != 0 && !err)
		err = rcore_error_no_memory();
	if (size)
		*ret = text;
	else
		free(text);
	return err;
}

int32_t rcore_plugin_run(struct rcore_plugin *plugin, int32_t argc, const char *const *argv,
			 char **ret)
{
	*ret = NULL;
	plugin->is_partial = false;
	const struct rcore_command *command = argc > 0 ? find_verb(argv[0]) : NULL;
	if (!command || !command->run) {
		char escaped[64];
		return rcore_plugin_settle(
			plugin, rcore_error_create(RCORE_ERROR_USAGE, "unknown command ruby-%s",
						   rcore_escape(escaped, sizeof(escaped),
								argc > 0 ? argv[0] : "")));
	}
	const char *verb = command->verb;
	const struct rcore_command *sub =
		argc > 1 ? rcore_find_subcommand(command, argv[1]) : NULL;
	if (sub) {
		command = sub;
		argc--;
		argv++;
	}
	struct rcore_common common = {0};
	void *arguments = calloc(1, command->size + 1);
	if (arguments && command->defaults)
		memcpy(arguments, command->defaults, command->size);
	const struct rcore_option_group groups[] = {
		{NULL, command->options, arguments},
		{NULL, rcore_common_options, &common},
	};
	struct rcore_command_line line = {.groups = groups, .group_count = 2};
	struct rcore_error *err = arguments ? parse(command, verb, argc, argv, &line, arguments)
					    : rcore_error_no_memory();
	if (!err)
		err = show(plugin, command, arguments, &common, ret);
	rcore_command_line_deinit(&line);
	free(arguments);
	return rcore_plugin_finish(plugin, err);
}
