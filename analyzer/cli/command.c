/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/target.h"

/* The first letter or, of options that have none, number of an option for argp. */
enum { KEY_FIRST = 0x400 };

struct line {
	const struct rcore_command *command;
	struct rcore_cli_target target;
	void *arguments;
};

/* NULL also for argp's own keys, ARGP_KEY_ARG being 0. */
static const struct rcore_option *find(const struct rcore_command *command, int key)
{
	if (key <= 0) /* ARGP_KEY_ARG is 0, as is the letter of an option that has none */
		return NULL;
	for (int i = 0; command->options && command->options[i].name; i++)
		if (key == KEY_FIRST + i || (key > 0 && key == command->options[i].letter))
			return &command->options[i];
	return NULL;
}

/* CORE and EXE are words too: a second one is EXE where it is a file. */
static bool is_of_target(const struct line *line, const char *word)
{
	if (!line->command->words)
		return true;
	if (line->target.pid)
		return false;
	if (!line->target.core)
		return true;
	const struct rcore_words *words =
		(void *)((char *)line->arguments + line->command->words_offset);
	return !line->target.options.executable && !words->count && access(word, F_OK) == 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct line *line = state->input;
	struct rcore_error *err;
	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = &line->target;
		return 0;
	}
	const struct rcore_option *option = find(line->command, key);
	if (option)
		err = rcore_option_set(option, line->arguments, argument);
	else if (key == ARGP_KEY_ARG && !is_of_target(line, argument))
		err = rcore_word_add(
			(void *)((char *)line->arguments + line->command->words_offset),
			argument);
	else
		return ARGP_ERR_UNKNOWN;
	if (err)
		argp_error(state, "%s", err->message);
	return 0;
}

static char *print_examples(const struct rcore_command *command)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fputs("Examples:\n\n", out);
	for (const char *const *example = command->examples; *example; example++)
		fprintf(out, "  rcore %s core.1234%s%s\n", command->name,
			(*example)[0] ? " " : "", *example);
	for (const char *const *line = command->shell_examples; line && *line; line++)
		fprintf(out, "  %s\n", *line);
	fprintf(out, "\n%s",
		command->exit_status ? command->exit_status : RCORE_CLI_EXIT_STATUS);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static char *add_examples(int key, const char *text, void *input)
{
	const struct line *line = input;
	char *examples =
		key == ARGP_KEY_HELP_POST_DOC && line ? print_examples(line->command) : NULL;
	return examples ? examples : (char *)text;
}

static struct argp_option *argp_options(const struct rcore_command *command)
{
	size_t count = 0;
	while (command->options && command->options[count].name)
		count++;
	struct argp_option *options = calloc(count + 1, sizeof(*options));
	for (size_t i = 0; options && i < count; i++) {
		const struct rcore_option *option = &command->options[i];
		options[i] = (struct argp_option){
			.name = option->name,
			.key = option->letter ? option->letter : KEY_FIRST + (int)i,
			.arg = option->value,
			.doc = option->help,
		};
	}
	return options;
}

static struct rcore_error *show(const struct rcore_cli_target *target, struct line *line,
				struct rcore_view *view)
{
	const struct rcore_command *command = line->command;
	struct rcore_cli_target opened = *target;
	view->done_reading = rcore_cli_progress_end;
	view->color = target->color;
	if (command->prepare)
		command->prepare(line->arguments, &opened.options);
	rcore_cli_progress_begin();
	struct rcore_error *err = rcore_cli_target_open(&opened, &view->session);
	if (!err)
		err = command->run(view, line->arguments, stdout);
	rcore_cli_progress_end();
	return err;
}

static int run(const struct rcore_cli_target *target, void *context,
	       struct rcore_error **ret_error)
{
	struct rcore_view view = {0};
	*ret_error = show(target, context, &view);
	rcore_view_deinit(&view);
	rcore_close(view.session);
	return view.is_partial ? 1 : 0;
}

int rcore_cli_command(const struct rcore_command *command, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&rcore_cli_target_argp, 0, "Where the target's files are, and looks:", 0},
		{0},
	};
	struct line line = {.command = command, .arguments = calloc(1, command->size + 1)};
	struct argp_option *options = argp_options(command);
	char usage[128], *doc = NULL;
	const char *separator = command->words ? " " : "", *words = command->words;
	snprintf(usage, sizeof(usage), "CORE [EXE]%s%s\n-p PID%s%s", separator,
		 words ? words : "", separator, words ? words : "");
	if (!line.arguments || !options ||
	    asprintf(&doc, "%s EXE is the program, where rcore does not find it by itself.\v ",
		     command->doc) < 0)
		return rcore_cli_fail(rcore_error_no_memory());
	const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = usage,
		.doc = doc,
		.children = children,
		.help_filter = add_examples,
	};
	argp_parse(&argp, argc, argv, 0, NULL, &line);
	int status = rcore_cli_target_each(&line.target, run, &line);
	rcore_cli_target_deinit(&line.target);
	free(line.arguments);
	free(options);
	free(doc);
	return status;
}
