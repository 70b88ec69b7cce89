/* SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "target/output/json_tree.h"

static const char *const completions[] = {
	[RCORE_COMPLETE_NOTHING] = NULL,  [RCORE_COMPLETE_THREAD] = "thread",
	[RCORE_COMPLETE_FIBER] = "fiber", [RCORE_COMPLETE_CONSTANT] = "constant",
	[RCORE_COMPLETE_FILE] = "file",
};

/*
 * json-c returns NULL if memory is short, and accepts NULL as JSON's null.
 * `failed` says at the end whether anything was lost.
 */
static void add(struct json_object *object, const char *key, struct json_object *value,
		bool *failed)
{
	if (!object || !value || json_object_object_add(object, key, value) != 0)
		*failed = true;
}

static void push(struct json_object *array, struct json_object *value, bool *failed)
{
	if (!array || !value || json_object_array_add(array, value) != 0)
		*failed = true;
}

static void add_text(struct json_object *object, const char *key, const char *text,
		     bool *failed)
{
	if (text)
		add(object, key, json_object_new_string(text), failed);
}

static void add_texts(struct json_object *object, const char *key, const char *const *texts,
		      bool *failed)
{
	if (!texts)
		return;
	struct json_object *array = json_object_new_array();
	add(object, key, array, failed);
	for (; *texts; texts++)
		push(array, json_object_new_string(*texts), failed);
}

static struct json_object *describe_option(const struct rcore_option *option, bool *failed)
{
	const char letter[] = {option->letter, '\0'};
	struct json_object *object = json_object_new_object();
	add_text(object, "name", option->name, failed);
	add_text(object, "letter", letter[0] ? letter : NULL, failed);
	add_text(object, "value", option->value, failed);
	add_texts(object, "choices", option->choices, failed);
	add_text(object, "completes", completions[option->completion], failed);
	return object;
}

static struct json_object *describe(const struct rcore_command *command, const char *verb,
				    bool *failed)
{
	struct json_object *object = json_object_new_object();
	struct json_object *options = json_object_new_array();
	add_text(object, "verb", verb, failed);
	add_text(object, "command", command->name, failed);
	add_text(object, "summary", command->summary, failed);
	add_text(object, "words", command->words, failed);
	add_text(object, "completes", completions[command->completion], failed);
	add(object, "is_of_selection", json_object_new_boolean(command->is_of_selection),
	    failed);
	add(object, "options", options, failed);
	for (const struct rcore_option *option = command->options; option && option->name;
	     option++)
		push(options, describe_option(option, failed), failed);
	for (const struct rcore_option *option = rcore_common_options;
	     command->run && option->name; option++)
		push(options, describe_option(option, failed), failed);
	if (!command->subcommands)
		return object;
	struct json_object *subcommands = json_object_new_array();
	add(object, "subcommands", subcommands, failed);
	/* They have none themselves. */
	for (const struct rcore_command *const *sub = command->subcommands; *sub; sub++)
		push(subcommands, describe(*sub, NULL, failed), failed);
	return object;
}

char *rcore_plugin_commands(void)
{
	bool failed = false;
	struct json_object *array = json_object_new_array();
	for (const struct rcore_command *const *command = rcore_commands; *command; command++)
		for (int i = 0; i < RCORE_PLUGIN_VERBS; i++) {
			const char *verb = rcore_plugin_verb(*command, i);
			if (verb)
				push(array, describe(*command, verb, &failed), &failed);
		}
	size_t size;
	char *text = failed ? NULL : rcore_json_tree_text(array, &size);
	json_object_put(array);
	return text;
}
