/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/named_outputs.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/profile/recording.h"
#include "cli/screen.h"
#include "cli/target.h"
#include "cli/watch.h"
#include "command/list.h"
#include "session/inputs.h"
#include "session/session.h"
#include "target/output/destination.h"

/* One run of a command: what its command line set. */
struct run {
	const struct rcore_command *command, *parent;
	struct rcore_option_group groups[RCORE_CLI_GROUPS];
	struct rcore_command_line line;
	struct rcore_cli_target target;
	struct rcore_cli_help help;
	struct rcore_screen screen;
	void *arguments;
};

struct rcore_help_style rcore_cli_help_style(void)
{
	enum { NARROWEST = 60, WIDEST = 100 };
	struct rcore_help_style style = {0};
	size_t width = rcore_screen_width();
	if (width >= NARROWEST)
		style.width = width < WIDEST ? width : WIDEST;
	return style;
}

static struct rcore_error *init(struct run *run, const struct rcore_command *command,
				const struct rcore_command *parent)
{
	*run = (struct run){.command = command, .parent = parent};
	run->arguments = calloc(1, command->size + 1);
	run->target.redact = command->redact;
	run->line.groups = run->groups;
	run->line.has_rest = command->rest;
	if (!run->arguments)
		return rcore_error_no_memory();
	if (command->defaults)
		memcpy(run->arguments, command->defaults, command->size);
	run->line.group_count = rcore_cli_groups(command, run->arguments, &run->target,
						 &run->help, run->groups);
	return NULL;
}

static void deinit(struct run *run)
{
	rcore_command_line_deinit(&run->line);
	free(run->arguments);
}

static struct rcore_error *unexpected(const struct rcore_command *command, const char *word)
{
	char escaped[128];
	return rcore_error_create(RCORE_ERROR_USAGE, "unexpected argument '%s'%s",
				  rcore_escape(escaped, sizeof(escaped), word),
				  command->rest ? "; use -p PID or -- COMMAND" : "");
}

/* Moves the arguments after TARGET to where the command expects them. */
static struct rcore_error *place_words(struct run *run)
{
	const struct rcore_command *command = run->command;
	struct rcore_strings *words = &run->line.words;
	size_t used = 0;
	struct rcore_error *err = NULL;
	if (command->rest)
		*(struct rcore_strings *)((char *)run->arguments + command->rest_offset) =
			run->line.rest;
	if (command->input == RCORE_INPUT_TARGET)
		err = rcore_cli_target_take(&run->target, words, command, &used);
	if (!err && !command->words && used < words->count)
		err = unexpected(command, words->items[used]);
	if (!err && command->words)
		*(struct rcore_strings *)((char *)run->arguments + command->operands_offset) =
			(struct rcore_strings){words->items + used, words->count - used, 0};
	return err;
}

/* Returns the value of a flag of the command; false if it has none. */
static bool has_flag(const struct run *run, const char *name)
{
	const struct rcore_option *option = run->command->options;
	for (; option && option->name; option++)
		if (option->kind == RCORE_OPTION_FLAG && !strcmp(option->name, name))
			return *(const bool *)((const char *)run->arguments + option->offset);
	return false;
}

/* Returns whether --format names another format than text, the first one. */
static bool has_other_format(const struct run *run)
{
	const struct rcore_option *option = run->command->options;
	for (; option && option->name; option++)
		if (option->kind == RCORE_OPTION_CHOICE && !strcmp(option->name, "format"))
			return *(const int *)((const char *)run->arguments + option->offset);
	return false;
}

/* Whether the option makes the output a document about one process. */
static bool makes_document(const struct run *run, const struct rcore_option *option)
{
	const void *member = (const char *)run->arguments + option->offset;
	if (!option->is_document)
		return false;
	return option->is_document[option->kind == RCORE_OPTION_FLAG ? *(const bool *)member
								     : *(const int *)member];
}

static bool has_document_flag(const struct run *run)
{
	const struct rcore_option *option = run->command->options;
	for (; option && option->name; option++)
		if (option->kind == RCORE_OPTION_FLAG && makes_document(run, option))
			return true;
	return false;
}

static struct rcore_screen_style style_of(const struct run *run)
{
	return (struct rcore_screen_style){
		.is_text = !has_flag(run, "json") && !has_other_format(run) &&
			   !has_document_flag(run),
		.keep_paths = has_flag(run, "all") || has_flag(run, "verbose"),
		.keeps_printing = run->target.watch > 0,
	};
}

static struct rcore_error *check_document(const struct run *run,
					  const struct rcore_option *option)
{
	const void *member = (const char *)run->arguments + option->offset;
	bool is_flag = option->kind == RCORE_OPTION_FLAG;
	if (!makes_document(run, option))
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"option '--%s%s%s' cannot be used with --children, because such a document "
		"describes one process; run rcore for each process with -p PID",
		option->name, is_flag ? "" : "=",
		is_flag ? "" : option->choices[*(const int *)member]);
}

/* Whether an output file is given of which this is true. */
static bool has_output(const struct run *run, bool (*is)(const char *output))
{
	const struct rcore_option *option = run->command->options;
	for (; option && option->name; option++) {
		const char *member = (const char *)run->arguments + option->offset;
		if (!option->writes)
			continue;
		if (option->kind == RCORE_OPTION_LIST) {
			const struct rcore_strings *list = (const void *)member;
			for (size_t i = 0; i < list->count; i++)
				if (is(list->items[i]))
					return true;
		} else if (is(*(const char *const *)member)) {
			return true;
		}
	}
	return false;
}

static bool is_given(const char *output)
{
	return output;
}

/* "/dev/stdout", or "json:/dev/stdout" */
static bool is_stdout(const char *output)
{
	const char *format = output ? strchr(output, ':') : NULL;
	return output && (rcore_destination_is_stdout(output) ||
			  (format && rcore_destination_is_stdout(format + 1)));
}

/* With --watch, the output can only be text on standard output. */
static struct rcore_error *check_watch(const struct run *run)
{
	if (!run->target.watch || (style_of(run).is_text && !has_output(run, is_given)))
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "option '--watch' prints text; omit the options for other "
				  "formats and files");
}

/* With --children, the command runs once for each process. */
static struct rcore_error *check_outputs(const struct run *run)
{
	const struct rcore_option *option = run->command->options;
	struct rcore_error *err = check_watch(run);
	if (!err && run->target.children)
		err = rcore_named_outputs_check(run->command, run->arguments);
	for (; run->target.children && option && option->name && !err; option++)
		err = check_document(run, option);
	return err;
}

static struct rcore_error *end_screen(struct run *run, struct rcore_error *err)
{
	const struct rcore_screen_style style = style_of(run);
	struct rcore_error *other = rcore_screen_end(&run->screen, &style);
	if (!err)
		return other;
	rcore_error_free(other);
	return err;
}

/* Prints how long `rcore heap -p` stopped the process. */
static void print_pause(const struct rcore_session *session)
{
	const struct rcore_copied *copied = &session->copied;
	if (!copied->bytes)
		return;
	fprintf(stderr, "rcore: copied %.0f MB; the process was stopped for %.1f ms",
		(double)copied->bytes / 1e6, (double)copied->pause_ns / 1e6);
	if (copied->unstopped_count)
		fprintf(stderr, ", except %zu thread%s, which did not stop",
			copied->unstopped_count, rcore_plural(copied->unstopped_count));
	fprintf(stderr, "\n");
}

static struct rcore_error *show(const struct rcore_cli_target *target, struct run *run,
				const void *arguments, struct rcore_view *view, FILE *out)
{
	const struct rcore_command *command = run->command;
	struct rcore_cli_target opened = *target;
	view->done_reading = rcore_cli_progress_end;
	view->color = target->color;
	if (command->prepare)
		command->prepare(arguments, &opened.options);
	rcore_cli_progress_begin();
	view->options = &opened.options;
	struct rcore_error *err = rcore_cli_target_open(&opened, &view->session);
	if (!err)
		err = rcore_session_check_stdout(view->session);
	if (!err)
		err = command->run(view, arguments, out);
	rcore_cli_progress_end();
	if (view->session)
		print_pause(view->session);
	view->options = NULL;
	return err;
}

/* Suggests --no-stop, if the command has it. */
static struct rcore_error *suggest_no_stop(const struct run *run, struct rcore_error *err)
{
	if (!err || err->code != RCORE_ERROR_TRACED ||
	    run->command->without & RCORE_WITHOUT_NO_STOP)
		return err;
	struct rcore_error *ret = rcore_error_create(
		err->code, "%s, or use --no-stop (Ruby frames only)", err->message);
	rcore_error_free(err);
	return ret;
}

static int run_target(const struct rcore_cli_target *target, void *context,
		      struct rcore_cli_look *look, struct rcore_error **ret_error)
{
	struct run *run = context;
	struct rcore_view view = {.write_pprof = rcore_report_heap_pprof,
				  .print_recording = rcore_cli_print_recording};
	void *named = NULL;
	*ret_error = target->children ? rcore_named_outputs_copy(run->command, run->arguments,
								 target->pid, &named)
				      : NULL;
	if (!*ret_error)
		*ret_error =
			suggest_no_stop(run, show(target, run, named ? named : run->arguments,
						  &view, look->out));
	rcore_named_outputs_free(run->command, named);
	if (view.snapshot)
		rcore_cli_summarize(view.snapshot, look);
	if (!*ret_error && !view.tells_gaps)
		rcore_format(look->gap, sizeof(look->gap), "%s", view.gap);
	rcore_view_deinit(&view);
	rcore_close(view.session);
	return view.is_partial ? 1 : 0;
}

/* Prints an error; for a wrong command line, also which help explains it. */
static int fail_usage(const struct run *run, struct rcore_error *err)
{
	if (err->code != RCORE_ERROR_USAGE)
		return rcore_cli_fail(err);
	struct rcore_error *with_help =
		rcore_error_create(RCORE_ERROR_USAGE, "%s; see rcore %s%s%s --help",
				   err->message, run->parent ? run->parent->name : "",
				   run->parent ? " " : "", run->command->name);
	rcore_error_free(err);
	return rcore_cli_fail(with_help);
}

static int run_on_target(struct run *run)
{
	const struct rcore_cli_target *target = &run->target;
	struct rcore_error *err = NULL;
	struct rcore_cli_look look = {0};
	int status;
	rcore_screen_begin(&run->screen);
	if (target->children) {
		status = rcore_cli_target_tree(target, run_target, run, run->screen.out,
					       style_of(run).is_text);
	} else {
		look.out = has_output(run, is_stdout) ? stderr : run->screen.out;
		status = run_target(target, run, &look, &err);
	}
	/*
	 * Prints the message after the report, or after the part of it that was
	 * printed.
	 */
	err = end_screen(run, err);
	if (!err && look.gap[0])
		fprintf(stderr, "rcore: %s\n", look.gap);
	if (!err && target->watch)
		err = suggest_no_stop(run, rcore_cli_watch(target, stdout));
	if (!err && target->pid && !target->children && style_of(run).is_text) {
		rcore_cli_note_stopped(target->pid);
		rcore_cli_suggest_children(target->pid);
	}
	return err ? rcore_cli_fail(err) : status;
}

static int run_command(struct run *run)
{
	int status = 0;
	rcore_cli_target_settle(&run->target);
	if (run->command->input == RCORE_INPUT_TARGET)
		return run_on_target(run);
	struct rcore_error *err =
		run->command->run_in_shell(&run->target, run->arguments, &status);
	return err ? fail_usage(run, err) : status;
}

static int print_help(const struct run *run)
{
	const struct rcore_help_style style = rcore_cli_help_style();
	rcore_help_command(run->command, run->parent, run->groups, run->line.group_count,
			   &style, stdout);
	return 0;
}

/* Whether `rcore doctor` has no target, and so describes only this machine. */
static bool is_without_target(const struct run *run, int argc)
{
	return run->command == &rcore_command_doctor && argc == 1;
}

static int print_machine(void)
{
	rcore_cli_print_recording(stdout);
	return 0;
}

int rcore_cli_command(const struct rcore_command *command, int argc, char **argv)
{
	const struct rcore_command *parent = NULL,
				   *sub = rcore_find_subcommand(command, argv[1]);
	struct run run;
	if (sub) {
		parent = command;
		command = sub;
		argc--;
		argv++;
	}
	struct rcore_error *err = init(&run, command, parent);
	if (!err)
		err = rcore_command_line_parse(&run.line, argc, (const char *const *)argv);
	bool wants_help = !err && run.help.help;
	bool is_about_machine = !err && !wants_help && is_without_target(&run, argc);
	if (!err && !wants_help)
		err = rcore_check_subcommand(command, &run.line.words);
	if (!err && !wants_help && !is_about_machine)
		err = place_words(&run);
	if (!err && !wants_help)
		err = check_outputs(&run);
	int status = err                ? fail_usage(&run, err)
		     : wants_help       ? print_help(&run)
		     : is_about_machine ? print_machine()
					: run_command(&run);
	deinit(&run);
	return status;
}
