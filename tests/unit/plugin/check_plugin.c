/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "base/count.h"
#include "rcore_plugin.h"
#include "suite.h"

/* A target of 64 KiB at 0x10000 that counts reads. */
struct target {
	uint64_t lowest, highest;
	int reads;
	bool is_interrupted;
};

enum { START = 0x10000, END = 0x20000 };

static int32_t read_target(void *context, uint64_t address, void *buffer, uint64_t size)
{
	struct target *target = context;
	target->reads++;
	if (address < target->lowest)
		target->lowest = address;
	if (address + size > target->highest)
		target->highest = address + size;
	if (target->is_interrupted)
		return 0;
	if (address < START || address + size > END)
		return RCORE_PLUGIN_CANNOT_READ;
	memset(buffer, 0, size);
	return RCORE_PLUGIN_READ;
}

static int32_t run(struct rcore_plugin *plugin, const char *verb, const char *word, char **ret)
{
	const char *const argv[] = {verb, word};
	return rcore_plugin_run(plugin, word ? 2 : 1, argv, ret);
}

static struct rcore_plugin *opened(struct target *target)
{
	*target = (struct target){.lowest = UINT64_MAX};
	struct rcore_plugin *plugin = rcore_plugin_open(read_target, target);
	ck_assert_int_eq(rcore_plugin_set_text(plugin, "machine", "x86_64"), 0);
	ck_assert_int_eq(rcore_plugin_set_text(plugin, "source", "core.7"), 0);
	ck_assert_int_eq(rcore_plugin_add_mapping(plugin, START, END, 0, "/nonexistent/a.out"),
			 0);
	return plugin;
}

START_TEST(versions)
{
	ck_assert_uint_eq(rcore_plugin_abi(), RCORE_PLUGIN_ABI);
	ck_assert_uint_gt(strlen(rcore_plugin_version()), 0);
}
END_TEST

START_TEST(no_ruby)
{
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	char *text;
	ck_assert_int_eq(rcore_plugin_set_number(plugin, "pid", 7), 0);
	ck_assert_int_eq(rcore_plugin_set_number(plugin, "signal", 6), 0);
	ck_assert_int_eq(rcore_plugin_add_thread(plugin, 7, NULL, 0, 0), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(run(plugin, "fibers", "--thread=T1", &text), 3);
		ck_assert_str_eq(text, "core.7  pid 7\nKilled by SIGABRT\n");
		ck_assert(rcore_plugin_error(plugin));
		rcore_plugin_text_free(text);
	}
	ck_assert_int_eq(run(plugin, "fibers", "-j", &text), 3);
	ck_assert(strstr(text, "\"failure\": \""));
	rcore_plugin_text_free(text);
	rcore_plugin_close(plugin);
}
END_TEST

START_TEST(command_lines)
{
	static const struct {
		const char *verb, *word, *error;
	} lines[] = {
		{"fibres", NULL, "unknown command ruby-fibres"},
		{"fibers", "--bogus", "unknown option '--bogus'; see help ruby-fibers"},
		{"fibers", "-ax", "unknown option '-x'; see help ruby-fibers"},
		{"fibers", "--fiber",
		 "option '--fiber' requires a value; see help ruby-fibers"},
		{"fibers", "--all=1",
		 "option '--all' does not accept a value; see help ruby-fibers"},
		{"fibers", "T1\033", "unexpected argument 'T1\\e'; see help ruby-fibers"},
		{"fibers", "--native=some",
		 "option '--native' must be fold, all or none, not 'some'; see help "
		 "ruby-fibers"},
	};
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	char *text;
	for (size_t i = 0; i < RCORE_COUNT(lines); i++) {
		ck_assert_int_eq(run(plugin, lines[i].verb, lines[i].word, &text), 64);
		ck_assert_ptr_null(text);
		ck_assert_str_eq(rcore_plugin_error(plugin), lines[i].error);
	}
	ck_assert_int_eq(target.reads, 0);
	static const char *const good[] = {"-av", "--nat=none", "--all", "--", "-j"};
	for (size_t i = 0; i < RCORE_COUNT(good); i++) {
		char *same;
		ck_assert_int_eq(run(plugin, "fibers", good[i], &text), 3);
		ck_assert_int_eq(run(plugin, "analyze", good[i], &same), 3);
		ck_assert_str_eq(text, same);
		rcore_plugin_text_free(same);
		rcore_plugin_text_free(text);
	}
	rcore_plugin_close(plugin);
}
END_TEST

START_TEST(commands_are_described)
{
	char *text = rcore_plugin_commands();
	ck_assert(strstr(text, "\"verb\":\"fibers\""));
	ck_assert(strstr(text, "\"verb\":\"analyze\""));
	ck_assert(strstr(text, "\"completes\":\"fiber\""));
	rcore_plugin_text_free(text);
}
END_TEST

/* Debuggers list commands with the first line of their help. */
START_TEST(help)
{
	char *text = rcore_plugin_help("fibers", "(gdb) ");
	ck_assert(strncmp(text,
			  "Why it died, and every stack.\n\nUsage: ruby-fibers [OPTION...]\n",
			  59) == 0);
	ck_assert(strstr(text, "\n  (gdb) ruby-fibers --fiber T1.F3 --native=all\n"));
	ck_assert(strstr(text, "\n      --redact=WHAT"));
	ck_assert(!strstr(text, "core.1234") && !strstr(text, "Exit status"));
	rcore_plugin_text_free(text);
	/* The name that the command has in the shell. */
	text = rcore_plugin_help("analyze", "(gdb) ");
	ck_assert(strstr(text, "\nUsage: ruby-analyze [OPTION...]\n"));
	ck_assert(strstr(text, "\n  (gdb) ruby-analyze --fiber T1.F3 --native=all\n"));
	rcore_plugin_text_free(text);
	text = rcore_plugin_help("up", "(lldb) ");
	ck_assert(strstr(text, "\nUsage: ruby-up [N]\n"));
	ck_assert(strstr(text, "\n  (lldb) ruby-up 2\n"));
	rcore_plugin_text_free(text);
	ck_assert_ptr_null(rcore_plugin_help("nothing", "(gdb) "));
}
END_TEST

/*
 * After a stop, the facts are passed again, and those of the last stop are
 * forgotten.
 */
START_TEST(a_stop_forgets)
{
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	char *text;
	ck_assert_int_eq(run(plugin, "fibers", NULL, &text), 3);
	ck_assert(strncmp(text, "core.7\nNo fatal signal", 22) == 0);
	rcore_plugin_text_free(text);
	int reads = target.reads;
	ck_assert_int_eq(run(plugin, "fibers", NULL, &text), 3);
	rcore_plugin_text_free(text);
	ck_assert_int_eq(target.reads, reads);
	rcore_plugin_forget(plugin);
	ck_assert_int_ge(run(plugin, "fibers", NULL, &text), 2);
	rcore_plugin_text_free(text);
	rcore_plugin_forget(plugin);
	rcore_plugin_set_text(plugin, "machine", "x86_64");
	rcore_plugin_set_text(plugin, "source", "again");
	rcore_plugin_add_mapping(plugin, START, END, 0, "/nonexistent/a.out");
	ck_assert_int_eq(run(plugin, "fibers", NULL, &text), 3);
	ck_assert(strncmp(text, "again\nNo fatal signal", 21) == 0);
	ck_assert_int_gt(target.reads, reads);
	rcore_plugin_text_free(text);
	rcore_plugin_close(plugin);
}
END_TEST

START_TEST(interrupts)
{
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	char *text;
	target.is_interrupted = true;
	ck_assert_int_eq(run(plugin, "fibers", NULL, &text), 2);
	ck_assert_str_eq(rcore_plugin_error(plugin), "interrupted");
	ck_assert_int_eq(target.reads, 1);
	rcore_plugin_text_free(text);
	rcore_plugin_close(plugin);
}
END_TEST

START_TEST(no_fibers)
{
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	struct rcore_plugin_place place;
	char *text;
	ck_assert_int_eq(rcore_plugin_complete(plugin, "fiber", "", &text), 3);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(rcore_plugin_current_fiber(plugin, 7, &text), 3);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(rcore_plugin_locate_fiber(plugin, "T1.F1", &place), 3);
	rcore_plugin_close(plugin);
}
END_TEST

START_TEST(debugger_stop)
{
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	char *text;
	rcore_plugin_set_number(plugin, "live", 1);
	rcore_plugin_set_number(plugin, "signal", 19);
	rcore_plugin_set_siginfo(plugin, 19, 0, 0, 1);
	run(plugin, "fibers", NULL, &text);
	ck_assert(strstr(text, "\nAlive: a debugger has stopped it\n"));
	rcore_plugin_text_free(text);
	rcore_plugin_close(plugin);
}
END_TEST

/*
 * For memory that a core does not contain, a debugger returns zeroes, so it
 * must not be asked.
 */
START_TEST(only_saved_segments_are_read)
{
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	char *text;
	ck_assert_int_eq(
		rcore_plugin_add_segment(plugin, START + 0x4000, END, RCORE_PLUGIN_CUT_OFF), 0);
	ck_assert_int_eq(
		rcore_plugin_add_segment(plugin, START, START + 0x2000, RCORE_PLUGIN_SAVED), 0);
	ck_assert_int_eq(rcore_plugin_add_segment(plugin, START + 0x1000, START + 0x4000,
						  RCORE_PLUGIN_NOT_SAVED),
			 0);
	ck_assert_int_eq(run(plugin, "fibers", NULL, &text), 3);
	ck_assert_int_gt(target.reads, 0);
	ck_assert_uint_ge(target.lowest, START);
	ck_assert_uint_le(target.highest, START + 0x2000);
	rcore_plugin_text_free(text);
	rcore_plugin_close(plugin);
}
END_TEST

START_TEST(bad_facts)
{
	static const uint64_t registers[64];
	struct target target;
	struct rcore_plugin *plugin = opened(&target);
	ck_assert_int_eq(rcore_plugin_set_text(plugin, "colour\033", "red"), 64);
	ck_assert_str_eq(rcore_plugin_error(plugin), "unknown text \"colour\\e\"");
	ck_assert_int_eq(rcore_plugin_set_text(plugin, "machine", "vax"), 64);
	ck_assert_str_eq(rcore_plugin_error(plugin), "unknown machine \"vax\"");
	ck_assert_int_eq(rcore_plugin_set_number(plugin, "age", 1), 64);
	ck_assert_int_eq(rcore_plugin_add_thread(plugin, 1, registers, 64, 0), 64);
	ck_assert_int_eq(rcore_plugin_add_mapping(plugin, 2, 1, 0, "/a"), 64);
	ck_assert_int_eq(rcore_plugin_add_segment(plugin, 2, 2, RCORE_PLUGIN_SAVED), 64);
	ck_assert_int_eq(rcore_plugin_add_segment(plugin, 1, 2, 7), 64);
	ck_assert(rcore_plugin_error(plugin));
	ck_assert_int_eq(rcore_plugin_add_auxv(plugin, 1, 1), 0);
	ck_assert(!rcore_plugin_error(plugin));
	rcore_plugin_close(plugin);
	rcore_plugin_close(NULL);
	rcore_plugin_text_free(NULL);
}
END_TEST

START_TEST(nothing_is_known)
{
	struct target target = {0};
	struct rcore_plugin *plugin = rcore_plugin_open(read_target, &target);
	char *text;
	ck_assert_int_ge(run(plugin, "fibers", NULL, &text), 2);
	ck_assert(rcore_plugin_error(plugin));
	rcore_plugin_text_free(text);
	rcore_plugin_close(plugin);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {versions,      no_ruby,
				      command_lines, commands_are_described,
				      help,          a_stop_forgets,
				      interrupts,    no_fibers,
				      debugger_stop, only_saved_segments_are_read,
				      bad_facts,     nothing_is_known};
	const struct rcore_test_suite suite = {
		.name = "plugin",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
