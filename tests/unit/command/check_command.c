/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "cli/list.h"
#include "cli/options.h"
#include "command/command.h"
#include "command/list.h"
#include "suite.h"

/* One option of each kind. */
struct arguments {
	bool all, any;
	const char *file, *output;
	size_t number, amount, time;
	struct rcore_index index;
	int choice, pid;
	struct rcore_strings list;
	struct rcore_version_option version;
};

static const char *const colors[] = {"red", "green", NULL};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(all), .help = "all"},
	{"any", 'y', RCORE_OPTION_FLAG, MEMBER(any), .help = "any"},
	{"file", 'f', RCORE_OPTION_TEXT, MEMBER(file), "FILE", "a file",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"output", 'o', RCORE_OPTION_TEXT, MEMBER(output), "FILE", "an output",
	 .completion = RCORE_COMPLETE_FILE, .writes = true},
	{"number", 0, RCORE_OPTION_NUMBER, MEMBER(number), "N", "a number",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"amount", 0, RCORE_OPTION_AMOUNT, MEMBER(amount), "N", "an amount",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"time", 0, RCORE_OPTION_TIME, MEMBER(time), "TIME", "a time",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"index", 'i', RCORE_OPTION_INDEX, MEMBER(index), "N", "an index",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"choice", 0, RCORE_OPTION_CHOICE, MEMBER(choice), "WHICH", "a choice", colors,
	 .completion = RCORE_COMPLETE_NOTHING},
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID", "a process",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"list", 'l', RCORE_OPTION_LIST, MEMBER(list), "X", "a list",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"version", 0, RCORE_OPTION_VERSION, MEMBER(version), "X.Y.Z", "a release",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

enum { MAX_WORDS = 12 };

/* Returns NULL or the error's message; the caller frees it. */
static struct rcore_error *parse(struct rcore_command_line *line,
				 struct rcore_option_group *group, struct arguments *arguments,
				 const char *const *words)
{
	const char *argv[MAX_WORDS + 2] = {"command"};
	int argc = 1;
	for (; words[argc - 1]; argc++)
		argv[argc] = words[argc - 1];
	*arguments = (struct arguments){0};
	*group = (struct rcore_option_group){NULL, options, arguments};
	line->groups = group;
	line->group_count = 1;
	return rcore_command_line_parse(line, argc, argv);
}

START_TEST(each_kind_is_set)
{
	static const char *const words[] = {"one", "-ayf", "core", "--index=0", "--num", "5",
					    "-lx", "-l",   "y",    "two",       "-p7",   NULL};
	struct arguments arguments;
	struct rcore_option_group group;
	struct rcore_command_line line = {0};
	ck_assert_ptr_null(parse(&line, &group, &arguments, words));
	ck_assert(arguments.all && arguments.any);
	ck_assert_str_eq(arguments.file, "core");
	ck_assert(arguments.index.is_given && arguments.index.number == 0);
	ck_assert_uint_eq(arguments.number, 5);
	ck_assert_uint_eq(arguments.list.count, 2);
	ck_assert_str_eq(arguments.list.items[1], "y");
	ck_assert_int_eq(arguments.pid, 7);
	ck_assert_uint_eq(line.words.count, 2);
	ck_assert_str_eq(line.words.items[0], "one");
	ck_assert_str_eq(line.words.items[1], "two");
	rcore_command_line_deinit(&line);
}
END_TEST

START_TEST(words_after_two_dashes)
{
	static const char *const words[] = {"one",   "--version", "3.3.8", "--choice",
					    "green", "--",        "--all", NULL};
	for (int has_rest = 0; has_rest < 2; has_rest++) {
		struct arguments arguments;
		struct rcore_option_group group;
		struct rcore_command_line line = {.has_rest = has_rest};
		ck_assert_ptr_null(parse(&line, &group, &arguments, words));
		ck_assert(!arguments.all);
		ck_assert_int_eq(arguments.choice, 1);
		ck_assert_uint_eq(arguments.version.number[2], 8);
		ck_assert_uint_eq(line.words.count, has_rest ? 1 : 2);
		ck_assert_uint_eq(line.rest.count, has_rest ? 1 : 0);
		rcore_command_line_deinit(&line);
	}
}
END_TEST

START_TEST(misspelt_commands)
{
	static const struct {
		const char *word, *command;
	} words[] = {
		{"wats", "waits"}, {"analyse", "analyze"},
		{"hepl", "help"},  {"threds", "threads"},
		{"bt", "bt"},      {"tb", "bt"},
		{"x", NULL},       {"core", NULL},
		{"qqqqq", NULL},   {"", NULL},
	};
	for (size_t i = 0; i < RCORE_COUNT(words); i++)
		ck_assert_pstr_eq(rcore_cli_nearest(words[i].word), words[i].command);
}
END_TEST

START_TEST(misplaced_subcommands)
{
	static const struct {
		const char *words[2], *message;
	} lines[] = {
		{{"ref", "core"},
		 "'ref' is neither a subcommand nor a file (did you mean `rcore heap refs`?)"},
		{{"none", "retained"},
		 "put the subcommand before the core and the options: `rcore heap retained "
		 "...`"},
		{{"none", "exe"}, "'none' is neither a subcommand nor a file"},
		{{"core.1", "exe"}, NULL},
		{{"./none", "exe"}, NULL},
	};
	for (size_t i = 0; i < RCORE_COUNT(lines); i++) {
		const char *items[] = {lines[i].words[0], lines[i].words[1]};
		const struct rcore_strings words = {items, 2, 2};
		struct rcore_error *err =
			rcore_check_subcommand(rcore_cli_find("heap"), &words);
		ck_assert_pstr_eq(err ? err->message : NULL, lines[i].message);
		rcore_error_free(err);
	}
}
END_TEST

START_TEST(times_have_units)
{
	static const struct {
		const char *text;
		size_t seconds; /* 0: refused */
	} times[] = {{"90", 90},
		     {"90s", 90},
		     {"5m", 300},
		     {"1h", 3600},
		     {"1000000000", 1000000000},
		     {"0", 0},
		     {"0s", 0},
		     {"1m30", 0},
		     {"1m30s", 0},
		     {"1d", 0},
		     {"1.5", 0},
		     {"-5", 0},
		     {"", 0},
		     {"s", 0},
		     {"1000000001", 0},
		     {"277778h", 0},
		     {"5M", 0},
		     {"99999999999999999999", 0}};
	for (size_t i = 0; i < RCORE_COUNT(times); i++) {
		const char *words[] = {"--time", times[i].text, NULL};
		struct arguments arguments;
		struct rcore_option_group group;
		struct rcore_command_line line = {0};
		char message[128];
		struct rcore_error *err = parse(&line, &group, &arguments, words);
		snprintf(message, sizeof(message),
			 "option '--time' requires a time such as 90, 90s, 5m or 1h, not '%s'",
			 times[i].text);
		ck_assert_pstr_eq(err ? err->message : NULL, times[i].seconds ? NULL : message);
		if (!err)
			ck_assert_uint_eq(arguments.time, times[i].seconds);
		rcore_error_free(err);
		rcore_command_line_deinit(&line);
	}
}
END_TEST

START_TEST(errors_name_the_word)
{
	static const struct {
		const char *words[3], *message;
	} lines[] = {
		{{"--nothing"}, "unknown option '--nothing'"},
		{{"--nothing=1"}, "unknown option '--nothing=1'"},
		{{"--nmber=1"}, "unknown option '--nmber=1' (did you mean --number?)"},
		{{"--flie", "x"}, "unknown option '--flie' (did you mean --file?)"},
		{{"-x"}, "unknown option '-x'"},
		{{"-ax"}, "unknown option '-x'"},
		{{"-xa"}, "unknown option '-x'"},
		{{"--a"}, "option '--a' is ambiguous: --all, --any, --amount"},
		{{"--file"}, "option '--file' requires a value"},
		{{"-af"}, "option '-f' requires a value"},
		{{"--all=1"}, "option '--all' does not accept a value"},
		{{"--number", "-1"}, "option '--number' requires a number, not '-1'"},
		{{"--number", " -1"}, "option '--number' requires a number, not ' -1'"},
		{{"--number", "+1"}, "option '--number' requires a number, not '+1'"},
		{{"--number", ""}, "option '--number' requires a number, not ''"},
		{{"--number", "18446744073709551616"},
		 "option '--number' requires a number, not '18446744073709551616'"},
		{{"--amount", "0"},
		 "option '--amount' requires a number from 1 to 1000000000, not '0'"},
		{{"-i", "1x"}, "option '--index' requires a number, not '1x'"},
		{{"--pid=0"},
		 "option '--pid' requires the id of a process or a part of its title, not '0'"},
		{{"-p2147483648"},
		 "option '--pid' requires the id of a process or a part of its title, not "
		 "'2147483648'"},
		{{"-p", "-5"},
		 "option '--pid' requires the id of a process or a part of its title, not "
		 "'-5'"},
		{{"-oa", "-ob"},
		 "option '--output' names one file; run the command again to write 'b', too"},
		{{"--choice=blue"}, "option '--choice' must be red or green, not 'blue'"},
		{{"--version", "3.3"},
		 "option '--version' requires a Ruby release such as 3.3.8, not '3.3'"},
		{{"--bo\033gus"}, "unknown option '--bo\\egus'"},
	};
	for (size_t i = 0; i < RCORE_COUNT(lines); i++) {
		struct arguments arguments;
		struct rcore_option_group group;
		struct rcore_command_line line = {0};
		struct rcore_error *err = parse(&line, &group, &arguments, lines[i].words);
		ck_assert_ptr_nonnull(err);
		ck_assert_int_eq(err->code, RCORE_ERROR_USAGE);
		ck_assert_str_eq(err->message, lines[i].message);
		rcore_error_free(err);
		rcore_command_line_deinit(&line);
	}
}
END_TEST

/* Arguments are returned in their order, whatever the environment says. */
START_TEST(posixly_correct)
{
	static const char *const words[] = {"one", "-a", NULL};
	struct arguments arguments;
	struct rcore_option_group group;
	struct rcore_command_line line = {0};
	setenv("POSIXLY_CORRECT", "1", 1);
	ck_assert_ptr_null(parse(&line, &group, &arguments, words));
	ck_assert(arguments.all);
	ck_assert_uint_eq(line.words.count, 1);
	rcore_command_line_deinit(&line);
}
END_TEST

START_TEST(text_is_wrapped)
{
	static const struct {
		const char *text;
		size_t at, indent, width;
		const char *lines;
	} cases[] = {
		{"one two three", 0, 0, 8, "one two\nthree\n"},
		{"one two three", 0, 2, 9, "  one two\n  three\n"},
		{"one two", 3, 5, 9, "  one\n     two\n"},
		{"one\ntwo three", 0, 0, 20, "one\ntwo three\n"},
		{"one  two ", 0, 0, 20, "one two\n"},
		{"incomprehensibly long", 0, 0, 8, "incomprehensibly\nlong\n"},
		{"", 0, 4, 8, "\n"},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		rcore_help_wrap(cases[i].text, cases[i].at, cases[i].indent, cases[i].width,
				out);
		fclose(out);
		ck_assert_str_eq(text, cases[i].lines);
		free(text);
	}
}
END_TEST

/*
 * No line except examples is wider than the terminal, and nothing is missing.
 */
static void check_help(const struct rcore_command *command, const struct rcore_command *parent)
{
	struct rcore_option_group groups[RCORE_CLI_GROUPS];
	const size_t count = rcore_cli_groups(command, NULL, NULL, NULL, groups);
	const struct rcore_help_style style = {.prompt = command->name ? NULL : "(gdb) "};
	char *text = NULL, *rest, *line;
	size_t size;
	ck_assert_msg(command->summary && command->doc, "%s", command->name);
	FILE *out = open_memstream(&text, &size);
	rcore_help_command(command, parent, groups, count, &style, out);
	fclose(out);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		ck_assert_msg(strlen(line) <= 80 || !strncmp(line, "  rcore", 7) ||
				      !strncmp(line, "  echo", 6),
			      "%s", line);
	free(text);
	for (size_t g = 0; g < count; g++)
		for (const struct rcore_option *a = groups[g].options; a && a->name; a++)
			for (size_t h = 0; h < count; h++)
				for (const struct rcore_option *b = groups[h].options;
				     b && b->name; b++)
					ck_assert_msg(a == b ||
							      (strcmp(a->name, b->name) != 0 &&
							       (!a->letter ||
								a->letter != b->letter)),
						      "%s: --%s, --%s", command->name, a->name,
						      b->name);
	for (const struct rcore_command *const *sub = command->subcommands; sub && *sub; sub++)
		check_help(*sub, command);
}

START_TEST(every_command_has_help)
{
	const struct rcore_command *const *const lists[] = {rcore_commands, rcore_cli_commands};
	for (size_t i = 0; i < 2; i++)
		for (const struct rcore_command *const *command = lists[i]; *command; command++)
			if ((*command)->input != RCORE_INPUT_NONE || (*command)->subcommands)
				check_help(*command, NULL);
}
END_TEST

/*
 * Each command can be run: by the shell, a debugger, or a debugger's own
 * script.
 */
START_TEST(every_command_runs_somewhere)
{
	for (const struct rcore_command *const *at = rcore_commands; *at; at++)
		ck_assert((*at)->run || (!(*at)->name && (*at)->verb));
	for (const struct rcore_command *const *at = rcore_cli_commands; *at; at++)
		ck_assert((*at)->name && !(*at)->verb && (*at)->run_in_shell);
}
END_TEST

static bool has_option(const struct rcore_option_group *groups, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		for (const struct rcore_option *at = groups[i].options; at && at->name; at++)
			if (!strcmp(at->name, name))
				return true;
	return false;
}

/*
 * --exact is about parked fibers, and --watch prints what changed about threads
 * and fibers: only a command that can select one of them prints anything of
 * them.
 */
static void check_process_options(const struct rcore_command *command)
{
	struct rcore_option_group groups[RCORE_CLI_GROUPS];
	const size_t count = rcore_cli_groups(command, NULL, NULL, NULL, groups);
	ck_assert_msg(has_option(groups, count, "exact") == has_option(groups, count, "fiber"),
		      "%s: --exact or --fiber, but not both: see RCORE_WITHOUT_EXACT",
		      command->name);
	ck_assert_msg(!has_option(groups, count, "watch") ||
			      has_option(groups, count, "thread"),
		      "%s: --watch, but not --thread: add RCORE_WITHOUT_WATCH to .without",
		      command->name);
	for (const struct rcore_command *const *sub = command->subcommands; sub && *sub; sub++)
		check_process_options(*sub);
}

START_TEST(process_options_have_an_effect)
{
	for (const struct rcore_command *const *at = rcore_commands; *at; at++)
		if ((*at)->name && (*at)->input == RCORE_INPUT_TARGET)
			check_process_options(*at);
	check_process_options(&rcore_command_check);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {each_kind_is_set,
				      words_after_two_dashes,
				      misspelt_commands,
				      misplaced_subcommands,
				      times_have_units,
				      errors_name_the_word,
				      posixly_correct,
				      text_is_wrapped,
				      every_command_has_help,
				      every_command_runs_somewhere,
				      process_options_have_an_effect};
	const struct rcore_test_suite suite = {
		.name = "command",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
