/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/text.h"
#include "json_schema.h"
#include "model/wait.h"
#include "report/text/process/fold.h"
#include "report/formats.h"
#include "snapshots.h"
#include "suite.h"

typedef struct rcore_error *writer(const struct rcore_snapshot *snapshot,
				   const struct rcore_report_options *options, FILE *out);

static struct rcore_error *write_doctor(const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options, FILE *out)
{
	return rcore_report_doctor(snapshot, NULL, options, out);
}

static char *written(writer *write, const struct rcore_snapshot *snapshot,
		     const struct rcore_report_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct rcore_error *err = write(snapshot, options, out);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	fclose(out);
	ck_assert_uint_eq(strlen(text), size);
	return text;
}

static char *file_text(const char *path)
{
	char *text = NULL;
	size_t size = 0, got;
	char bytes[4096];
	FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
	ck_assert_msg(in, "cannot open %s; the tests run in the top folder", path);
	while ((got = fread(bytes, 1, sizeof(bytes), in)))
		fwrite(bytes, 1, got, out);
	fclose(in);
	fclose(out);
	return text;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/*
 * RCORE_GOLDEN=update writes the files again; look at the diff before you
 * commit it.
 */
static const struct golden {
	const char *path;
	writer *write;
	struct rcore_report_options options;
	void (*make)(struct rcore_snapshot *); /* NULL: rcore_test_rich */
} goldens[] = {
	{"tests/golden/report.txt", rcore_report_text, {0}, NULL},
	{"tests/golden/report-all.txt", rcore_report_text, {.all = true}, NULL},
	{"tests/golden/report-color.txt", rcore_report_text, {.color = true}, NULL},
	{"tests/golden/report-thread.txt",
	 rcore_report_text,
	 {.thread = "T2", .verbose = true},
	 NULL},
	{"tests/golden/report-fiber.txt", rcore_report_text, {.fiber = "0x7f2000000500"}, NULL},
	{"tests/golden/report.json", rcore_report_json, {.thread = "T2"}, NULL},
	{"tests/golden/doctor.txt", write_doctor, {0}, NULL},
	{"tests/golden/woven.txt", rcore_report_text, {0}, rcore_test_woven},
	{"tests/golden/woven-all.txt",
	 rcore_report_text,
	 {.native = RCORE_NATIVE_ALL},
	 rcore_test_woven},
	{"tests/golden/woven-none.txt",
	 rcore_report_text,
	 {.native = RCORE_NATIVE_NONE},
	 rcore_test_woven},
	{"tests/golden/woven.json", rcore_report_json, {0}, rcore_test_woven},
	{"tests/golden/knowing.txt", rcore_report_text, {0}, rcore_test_knowing},
	{"tests/golden/knowing-all.txt",
	 rcore_report_text,
	 {.all = true, .verbose = true},
	 rcore_test_knowing},
	{"tests/golden/knowing.json", rcore_report_json, {0}, rcore_test_knowing},
	{"tests/golden/waits.txt", rcore_report_waits, {0}, rcore_test_waits},
	{"tests/golden/waits-report.txt",
	 rcore_report_text,
	 {.verbose = true},
	 rcore_test_waits},
	{"tests/golden/waits.json", rcore_report_waits_json, {0}, rcore_test_waits},
	{"tests/golden/waits-github.txt", rcore_report_github, {0}, rcore_test_waits},
	{"tests/golden/waits-gitlab.json", rcore_report_gitlab, {0}, rcore_test_waits},
	{"tests/golden/waits.sarif", rcore_report_sarif, {0}, rcore_test_waits},
	{"tests/golden/hostile.md", rcore_report_markdown, {0}, rcore_test_hostile},
	{"tests/golden/hostile-github.txt", rcore_report_github, {0}, rcore_test_hostile},
	{"tests/golden/hostile.sarif", rcore_report_sarif, {0}, rcore_test_hostile},
	{"tests/golden/hostile.xml", rcore_report_junit, {0}, rcore_test_hostile},
	{"tests/golden/hostile-gitlab.json", rcore_report_gitlab, {0}, rcore_test_hostile},
	{"tests/golden/hostile-explain.txt", rcore_report_explain, {0}, rcore_test_hostile},
};

START_TEST(golden)
{
	const struct golden *wanted = &goldens[_i];
	const char *mode = getenv("RCORE_GOLDEN");
	struct rcore_snapshot snapshot = {0};
	(wanted->make ? wanted->make : rcore_test_rich)(&snapshot);
	char *text = written(wanted->write, &snapshot, &wanted->options);
	if (mode && strcmp(mode, "update") == 0) {
		FILE *out = fopen(wanted->path, "w");
		ck_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
	}
	char *expected = file_text(wanted->path);
	ck_assert_msg(strcmp(text, expected) == 0,
		      "%s differs from what is printed; RCORE_GOLDEN=update writes it again, "
		      "then see `git diff`",
		      wanted->path);
	free(expected);
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static writer *const writers[] = {
	rcore_report_text,         rcore_report_json,   write_doctor,
	rcore_report_markdown,     rcore_report_github, rcore_report_sarif,
	rcore_report_junit,        rcore_report_gitlab, rcore_report_explain,
	rcore_report_explain_json, rcore_report_waits,  rcore_report_waits_json,
	rcore_report_html,
};

enum { SNAPSHOTS = 3 };

/* Whatever the options are, no byte of the target controls a terminal. */
START_TEST(printable)
{
	const struct rcore_report_options options = {.all = true, .verbose = true};
	struct rcore_snapshot snapshot = {0};
	static void (*const makers[])(struct rcore_snapshot * snapshot) = {
		rcore_test_rich, rcore_test_hostile, rcore_test_waits};
	makers[_i % SNAPSHOTS](&snapshot);
	char *text = written(writers[_i / SNAPSHOTS], &snapshot, &options);
	for (const char *at = text; *at;) {
		uint32_t character = 0;
		size_t length = rcore_utf8_decode(at, &character);
		ck_assert_msg(length &&
				      (character == '\n' || !rcore_unsafe_character(character)),
			      "U+%04X at %zd", character, at - text);
		at += length;
	}
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static char *report(const struct rcore_snapshot *snapshot)
{
	return written(rcore_report_text, snapshot, NULL);
}

/*
 * If the exit status is 1, the report has the heading "Problems" and below it a
 * line that says why.
 */
START_TEST(problems_have_lines)
{
	struct rcore_snapshot snapshot = {.cause = {.thread = -1, .fiber = -1}};
	char *text = report(&snapshot);
	ck_assert_ptr_null(strstr(text, "Problems"));
	free(text);
	snapshot.incomplete = true;
	text = report(&snapshot);
	ck_assert_ptr_nonnull(strstr(text, "\nProblems\n  ! not everything"));
	free(text);

	struct rcore_step gap = {RCORE_STEP_GAP, 0, "cannot be matched"};
	struct rcore_fiber fiber = {
		.id = "T1.F0", .thread = -1, .steps = &gap, .step_count = 1};
	snapshot.fibers = &fiber;
	snapshot.fiber_count = 1;
	text = report(&snapshot);
	ck_assert_ptr_nonnull(strstr(text, "\nProblems\n  ! not decoded completely"));
	ck_assert_ptr_nonnull(strstr(text, ": 1 native stack\n"));
	free(text);
}
END_TEST

/*
 * If everything could be decoded, the report of a crash names only files that
 * were replaced.
 */
START_TEST(replaced_files_are_told)
{
	struct rcore_module_info modules[] = {
		{.path = "/srv/gone.so", .status = "missing", .lost = "names"},
		{.path = "/srv/ext.so", .file = "/srv/ext.so", .status = "wrong build"},
	};
	struct rcore_snapshot snapshot = {
		.cause = {.thread = -1, .fiber = -1}, .modules = modules, .module_count = 2};
	snapshot.cause.present = true;
	char *text = report(&snapshot);
	ck_assert_ptr_null(strstr(text, "Problems"));
	free(text);
	modules[1].lost = "names";
	text = report(&snapshot);
	ck_assert_ptr_nonnull(strstr(text, "\nProblems\n  ! another build of /srv/ext.so on "
					   "this machine; run rcore doctor"));
	free(text);
	snapshot.cause.present = false;
	text = report(&snapshot);
	ck_assert_ptr_null(strstr(text, "Problems"));
	free(text);
}
END_TEST

START_TEST(doctor_explains_weaving)
{
	static const char *const words[] = {
		[RCORE_ACTIVATION_SYMBOL] = "weaving   0x1234  found by its symbol",
		[RCORE_ACTIVATION_CODE] = "weaving   0x1234  found by the code",
		[RCORE_ACTIVATION_STACKS] = "weaving   0x1234  guessed",
		[RCORE_ACTIVATION_UNKNOWN] = "weaving   neither a symbol",
	};
	struct rcore_snapshot snapshot = {.cause = {.thread = -1, .fiber = -1}};
	char *text = written(write_doctor, &snapshot, NULL);
	ck_assert_ptr_null(strstr(text, "weaving"));
	free(text);
	for (int i = RCORE_ACTIVATION_SYMBOL; i <= RCORE_ACTIVATION_UNKNOWN; i++) {
		snapshot.activation =
			(struct rcore_activation){(enum rcore_activation_source)i, 0x1234};
		text = written(write_doctor, &snapshot, NULL);
		ck_assert_ptr_nonnull(strstr(text, words[i]));
		free(text);
	}
}
END_TEST

static struct json_object *parsed(const struct rcore_snapshot *snapshot,
				  const struct rcore_report_options *options)
{
	char why[256], *text = written(rcore_report_json, snapshot, options);
	struct json_object *document = json_tokener_parse(text);
	struct json_object *schema = json_object_from_file("docs/rcore-1.schema.json");
	ck_assert_msg(document && schema, "not JSON");
	ck_assert_msg(json_schema_valid(schema, document, why, sizeof(why)), "%s", why);
	json_object_put(schema);
	free(text);
	return document;
}

/*
 * The frame is named although its file is not in the source folder. The
 * signature is that of the main thread, so it is left out.
 */
START_TEST(hang_has_a_name)
{
	struct rcore_frame frame = {
		.label = "Pump#push \x1b", .path = "/srv/pump.rb", .line = 3};
	struct rcore_snapshot snapshot;
	rcore_test_waits(&snapshot);
	snapshot.deadlock_count = 0;
	snapshot.signature = (struct rcore_signature){.strict = "strict", .loose = "loose"};
	ck_assert_int_eq(snapshot.summary[0].kind, RCORE_SUMMARY_QUEUE);
	struct rcore_fiber *fiber = &snapshot.fibers[snapshot.summary[0].fibers[0]];
	fiber->frames = &frame;
	fiber->frame_count = 1;
	char *github = written(rcore_report_github, &snapshot, NULL);
	char *sarif = written(rcore_report_sarif, &snapshot, NULL);
	ck_assert_msg(strstr(github, "title=Blocked threads in Pump#push \\e::") != NULL, "%s",
		      github);
	ck_assert_ptr_nonnull(strstr(sarif, "\"partialFingerprints\":{\"rcoreHang/v1\":\""
					    "blocked in Pump#push "));
	ck_assert_ptr_null(strstr(sarif, "strict"));
	free(github);
	free(sarif);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

/* The thread that it blames may only wait for those in the deadlock. */
START_TEST(explains_deadlock)
{
	struct rcore_snapshot snapshot;
	rcore_test_waits(&snapshot);
	ck_assert_uint_gt(snapshot.deadlock_count, 0);
	snapshot.signature = (struct rcore_signature){.strict = "strict",
						      .loose = "loose",
						      .strict_text = "alive\n",
						      .loose_text = "alive\n"};
	char *text = written(rcore_report_explain, &snapshot, NULL);
	ck_assert_msg(!strncmp(text, "Deadlock: ", 10), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, snapshot.deadlocks[0].text));
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

/* If an extension crashed, its function is named next to the line of Ruby. */
START_TEST(crash_has_its_function)
{
	struct rcore_snapshot snapshot = {0};
	rcore_test_rich(&snapshot);
	snapshot.blame.native = "\x1b.so: parse";
	char *github = written(rcore_report_github, &snapshot, NULL);
	char *gitlab = written(rcore_report_gitlab, &snapshot, NULL);
	ck_assert_msg(strstr(github, ", in \\e.so: parse (") != NULL, "%s", github);
	ck_assert_ptr_nonnull(strstr(gitlab, ".so: parse ("));
	free(github);
	free(gitlab);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(woven_json_is_valid)
{
	struct rcore_snapshot snapshot;
	rcore_test_woven(&snapshot);
	json_object_put(parsed(&snapshot, NULL));
	rcore_arena_deinit(&snapshot.arena);
	rcore_test_waits(&snapshot);
	json_object_put(parsed(&snapshot, NULL));
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static struct json_object *at(struct json_object *array, const char *key, size_t index)
{
	return json_object_array_get_idx(json_object_object_get(array, key), index);
}

static const char *string(struct json_object *object, const char *key)
{
	return json_object_get_string(json_object_object_get(object, key));
}

START_TEST(json_is_valid)
{
	struct rcore_snapshot snapshot, empty = {.cause = {.thread = -1, .fiber = -1}};
	rcore_test_rich(&snapshot);
	struct json_object *document = parsed(&snapshot, NULL);
	ck_assert_uint_eq(json_object_array_length(json_object_object_get(document, "fibers")),
			  snapshot.fiber_count);
	ck_assert_str_eq(string(at(document, "fibers", 1), "resumed_by"), "T1.F0");
	ck_assert_str_eq(string(json_object_object_get(document, "cause"), "fiber"), "T1.F1");
	ck_assert(!json_object_get_boolean(json_object_object_get(document, "complete")));
	json_object_put(document);
	rcore_arena_deinit(&snapshot.arena);

	json_object_put(parsed(&empty, NULL));
	empty.failure = "no Ruby";
	document = parsed(&empty, NULL);
	ck_assert_str_eq(string(document, "failure"), "no Ruby");
	json_object_put(document);
}
END_TEST

START_TEST(json_keeps_bytes)
{
	struct rcore_snapshot snapshot;
	rcore_test_rich(&snapshot);
	struct json_object *document = parsed(&snapshot, NULL);
	struct json_object *thread = at(document, "threads", 1);
	const char *name = snapshot.threads[1].name, *hex = string(thread, "name_hex");
	ck_assert_str_eq(string(thread, "name"), "puma srv \033[31mtp\xef\xbf\xbd 001");
	ck_assert_uint_eq(strlen(hex), 2 * strlen(name));
	for (size_t i = 0; name[i]; i++) {
		char byte[3] = {hex[2 * i], hex[2 * i + 1]};
		ck_assert_int_eq((char)strtol(byte, NULL, 16), name[i]);
	}
	ck_assert(!string(at(document, "threads", 3), "name_hex"));
	struct json_object *frame =
		at(at(document, "fibers", snapshot.threads[1].fibers[0]), "frames", 1);
	ck_assert_str_eq(string(frame, "label"),
			 snapshot.fibers[snapshot.threads[1].fibers[0]].frames[1].label);
	json_object_put(document);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(json_is_streamed)
{
	struct rcore_snapshot snapshot;
	struct rusage before, after;
	rcore_test_deep(&snapshot, 100000, 3);
	FILE *out = fopen("/dev/null", "w");
	getrusage(RUSAGE_SELF, &before);
	ck_assert(!rcore_report_json(&snapshot, NULL, out));
	getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer keeps freed memory */
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 4096);
#endif
	fclose(out);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static const struct {
	const char *thread, *fiber;
	const char *message; /* NULL: found */
} picks[] = {
	{"T2", NULL, NULL},
	{"t2", NULL, NULL},
	{"1240", NULL, NULL},
	{"0x7f4000000050", NULL, NULL},
	{"0x7F3000002000", NULL, NULL},
	{NULL, "T2.F1", NULL},
	{NULL, "0x7f2000000960", NULL},
	{NULL, "0x7f100003c000", NULL},
	{"T2", "T2.F1", NULL},
	{"T9", NULL,
	 "there is no thread T9; the threads are: T1 (main) T2 (puma srv \\e[31mtp\\xFF 001) "
	 "T3 E1 (worker)"},
	{"0", NULL,
	 "there is no thread 0; the threads are: T1 (main) T2 (puma srv \\e[31mtp\\xFF 001) T3 "
	 "E1 (worker)"},
	{"0x0", NULL,
	 "there is no thread 0x0; the threads are: T1 (main) T2 (puma srv \\e[31mtp\\xFF 001) "
	 "T3 E1 (worker)"},
	{"", NULL,
	 "there is no thread ; the threads are: T1 (main) T2 (puma srv \\e[31mtp\\xFF 001) T3 "
	 "E1 (worker)"},
	{"\033", NULL,
	 "there is no thread \\e; the threads are: T1 (main) T2 (puma srv \\e[31mtp\\xFF 001) "
	 "T3 E1 (worker)"},
	{"T2", "T1.F0", "there is no fiber T1.F0 in thread T2; its fibers are: T2.F0 T2.F1"},
	{NULL, "T9.F0",
	 "there is no fiber T9.F0; the fibers are: T1.F0 T1.F1 T1.F2 T1.F3 T1.F4 T1.F5 T1.F6 "
	 "T1.F7 T1.F8 T1.F9 T1.F10 T1.F11 T1.F12 T1.F13 T1.F14 T1.F15 T1.F16 T1.F17 T1.F18 "
	 "T1.F19 ..."},
};

START_TEST(pick)
{
	const struct rcore_report_options options = {.thread = picks[_i].thread,
						     .fiber = picks[_i].fiber};
	struct rcore_snapshot snapshot;
	rcore_test_rich(&snapshot);
	if (!picks[_i].message) {
		char *text = written(rcore_report_text, &snapshot, &options);
		ck_assert(strstr(text, "T2.F1"));
		ck_assert(!strstr(text, "\nT1 "));
		free(text);
		struct json_object *document = parsed(&snapshot, &options);
		ck_assert_str_eq(string(at(document, "threads", 0), "id"), "T2");
		ck_assert(!at(document, "threads", 1));
		json_object_put(document);
	} else {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		struct rcore_error *err = rcore_report_text(&snapshot, &options, out);
		ck_assert(err && err->code == RCORE_ERROR_USAGE);
		ck_assert_str_eq(err->message, picks[_i].message);
		rcore_error_free(err);
		fclose(out);
		ck_assert_uint_eq(size, 0);
		free(text);
	}
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(full_disk)
{
	struct rcore_snapshot snapshot;
	rcore_test_rich(&snapshot);
	FILE *out = fopen("/dev/full", "w");
	struct rcore_error *err = writers[_i](&snapshot, NULL, out);
	ck_assert(err && err->code == RCORE_ERROR_OS);
	ck_assert_str_eq(err->message, "cannot write the report: No space left on device");
	rcore_error_free(err);
	fclose(out);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static char *deep_text(size_t depth, size_t period, bool all)
{
	const struct rcore_report_options options = {.all = all};
	struct rcore_snapshot snapshot;
	rcore_test_deep(&snapshot, depth, period);
	char *text = written(rcore_report_text, &snapshot, &options);
	rcore_arena_deinit(&snapshot.arena);
	return text;
}

START_TEST(recursion_is_folded)
{
	static const struct {
		size_t depth, period, lines;
		const char *text; /* NULL: not folded */
	} cases[] = {
		{10000, 1, 8, "the same frame 9,998 more times, up to frame 9998 (--all"},
		{10000, 2, 10, "the same 2 frames 4,998 more times, up to frame 9997 (--all"},
		{10000, 16, 38, "the same 16 frames 623 more times"},
		{9, 1, 14, NULL},
		{12, 1, 8, "the same frame 10 more times"},
		{0, 1, 5, NULL},
		{1, 1, 6, NULL},
		{400, 400, 405, NULL},
		{10000, 700, 5 + 300 + 1, "9,700 frames left out (--all shows them)"},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		char *text = deep_text(cases[i].depth, cases[i].period, false);
		ck_assert_msg(!cases[i].text || strstr(text, cases[i].text), "%s", text);
		ck_assert_msg(count_lines(text) == cases[i].lines, "%zu lines:\n%s",
			      count_lines(text), text);
		free(text);
		text = deep_text(cases[i].depth, cases[i].period, true);
		ck_assert_uint_eq(count_lines(text), cases[i].depth + 5);
		free(text);
	}
}
END_TEST

/* A problem that only one frame has is never folded away. */
START_TEST(problems_are_not_folded)
{
	struct rcore_snapshot snapshot;
	struct rcore_fold item;
	rcore_test_deep(&snapshot, 1000, 1);
	snapshot.fibers[0].frames[500].problem = "broken";
	struct rcore_rows rows;
	ck_assert_ptr_null(
		rcore_rows_init(&rows, &snapshot.fibers[0], RCORE_NATIVE_FOLDED, true));
	for (size_t row = 0; rcore_fold_next(&rows, &row, &item);)
		ck_assert(item.rounds == 1 || 500 < item.first ||
			  500 >= item.first + item.period * item.rounds);
	rcore_rows_deinit(&rows);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

/*
 * Frames of gems between others are folded, except in a fiber that the user
 * asks for and in the one that died.
 */
START_TEST(libraries_are_folded)
{
	enum { DEPTH = 30, LINES = 5 + DEPTH, LEFT_OUT = 12 };
	static const struct rcore_report_options all = {.all = true}, one = {.thread = "T1"};
	static const char words[] = "       6  ", folded[] = "  (12 frames of rack, puma; "
							     "--all shows them)\n";
	struct rcore_snapshot snapshot;
	rcore_test_deep(&snapshot, DEPTH, DEPTH);
	for (size_t i = 5; i < 19; i++)
		snapshot.fibers[0].frames[i].path = i < 9 ? "/srv/gems/rack-3.2.8/lib/rack.rb"
							  : "/srv/gems/puma-8.0.2/lib/puma.rb";
	char *text = written(rcore_report_text, &snapshot, NULL);
	ck_assert_msg(strstr(text, folded) && !strstr(text, words), "%s", text);
	ck_assert_uint_eq(count_lines(text), LINES - LEFT_OUT + 1);
	free(text);
	const struct rcore_report_options *const whole[] = {&all, &one};
	for (size_t i = 0; i < RCORE_COUNT(whole); i++) {
		text = written(rcore_report_text, &snapshot, whole[i]);
		ck_assert_msg(!strstr(text, "frames of") && strstr(text, words), "%s", text);
		free(text);
	}
	snapshot.fibers[0].frames[7].problem = "broken";
	text = written(rcore_report_text, &snapshot, NULL);
	ck_assert_msg(strstr(text, "       7  "), "%s", text);
	free(text);
	snapshot.cause.present = true;
	snapshot.cause.fiber = 0;
	text = written(rcore_report_text, &snapshot, NULL);
	ck_assert_msg(!strstr(text, "frames of"), "%s", text);
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(bundlers_option_is_short)
{
	static const struct rcore_report_options verbose = {.verbose = true}, plain = {0};
	static const char whole[] = "-r/usr/lib/ruby/bundler/setup -W0 -r/srv/setup";
	struct rcore_snapshot snapshot = {0};
	rcore_test_rich(&snapshot);
	snapshot.facts.rubyopt = whole;
	char *text = written(rcore_report_text, &snapshot, &plain);
	ck_assert(strstr(text, "\nRUBYOPT: -rbundler/setup -W0 -r/srv/setup\n"));
	free(text);
	text = written(rcore_report_text, &snapshot, &verbose);
	ck_assert(strstr(text, "\nRUBYOPT: -r/usr/lib/ruby/bundler/setup -W0 -r/srv/setup\n"));
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static const struct {
	const char *argument, *text;
} seconds[] = {
	{"30", "sleeps for 30 s"},
	{"0.5", "sleeps for 0.5 s"},
	{"0.000125", "sleeps for 0.000125 s"},
	{"1.0e-05", "sleeps for 1.0e-05 s"},
	{"12.125", "sleeps for 12.125 s"},
	{"59.979695668000204", "sleeps for 59.979 s"},
	{"0.00035999999999999997", "sleeps for 0.00036 s"},
	{"0.9876543210000001", "sleeps for 0.988 s"},
	{"3.5999999999999997e-05", "sleeps for 3.6e-05 s"},
	{"3.5999999999999997e-05x", "sleeps for 3.5999999999999997e-05x s"},
	{"1.5999999999999997e+20", "sleeps for 1.5999999999999997e+20 s"},
	{"100000000000000.1234", "sleeps for 100000000000000.123 s"},
	{"1.5 or (2.12345)", "sleeps for 1.5 or (2.12345) s"},
	{"1.12345e+20", "sleeps for 1.12345e+20 s"},
	{"-1.12345", "sleeps for -1.12345 s"},
	{"", "sleeps for  s"},
};

START_TEST(seconds_are_short)
{
	const struct rcore_snapshot snapshot = {0};
	const struct rcore_wait wait = {.kind = RCORE_WAIT_SLEEP,
					.argument = seconds[_i].argument};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	rcore_wait_write(&snapshot, &wait, out);
	fclose(out);
	ck_assert_str_eq(text, seconds[_i].text);
	free(text);
}
END_TEST

START_TEST(parked_fibers_are_merged)
{
	const struct rcore_report_options all = {.all = true}, one = {.fiber = "T1.F7"};
	struct rcore_snapshot snapshot;
	rcore_test_parked(&snapshot, 2000, 5);
	ck_assert_uint_eq(snapshot.group_count, 1);
	ck_assert_uint_eq(snapshot.groups[0].count, 2000);
	ck_assert_int_eq(snapshot.groups[0].fibers[0], 1);
	ck_assert_int_eq(snapshot.fibers[0].group, -1);
	ck_assert_int_eq(snapshot.fibers[2000].group, 0);
	char *text = written(rcore_report_text, &snapshot, NULL);
	ck_assert(strstr(text, "\n2,000 fibers parked with the same stack at "
			       "/srv/app/task.rb:1: T1.F1 T1.F2 "));
	ck_assert(strstr(text, " T1.F20 and 1,980 more (--all shows each)\n"));
	ck_assert_uint_eq(count_lines(text), 6 + 2 + 5);
	free(text);
	text = written(rcore_report_text, &snapshot, &all);
	ck_assert(!strstr(text, "same stack"));
	ck_assert_uint_eq(count_lines(text), 5 + 2000 * 6);
	free(text);
	text = written(rcore_report_text, &snapshot, &one);
	ck_assert(!strstr(text, "same stack") && strstr(text, "T1.F7 "));
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(escapes)
{
	static const char *const cases[][2] = {
		{"plain \\ text", "plain \\ text"},
		{"\033[31m\a\r\n\t\b\x7f", "\\e[31m\\a\\r\\n\\t\\b\\x7F"},
		{"caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80",
		 "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"},
		{"\xc2\x9b"
		 "31m",
		 "\\u{9B}31m"},
		{"\x9b"
		 "31m",
		 "\\x9B31m"},
		{"a\xe2\x80\xae"
		 "b\xe2\x81\xa6",
		 "a\\u{202E}b\\u{2066}"},
		{"\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe6\x97",
		 "\\xC0\\x80 \\xED\\xA0\\x80 \\xF4\\x90\\x80\\x80 \\xE6\\x97"},
		{"a\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "a\\u{FFFE}\\u{FFFF}\xef\xbf\xbd"},
		/* What CI systems would take for commands. */
		{"::error::A::B", "\\x3A:error::A::B"},
		{"  ::stop-commands::x", "  \\x3A:stop-commands::x"},
		{"A::B ::C :d", "A::B ::C :d"},
		{"::A", "::A"},
		{"a ##[add-path]/tmp ##vso[x", "a \\x23#[add-path]/tmp \\x23#vso[x"},
		{"# ##a ##[", "# ##a \\x23#["},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		char buffer[128], *text = NULL;
		size_t size = 0;
		ck_assert_str_eq(rcore_escape(buffer, sizeof(buffer), cases[i][0]),
				 cases[i][1]);
		FILE *out = open_memstream(&text, &size);
		ck_assert_uint_eq(rcore_escape_write(out, cases[i][0]),
				  rcore_escape_width(cases[i][0]));
		fclose(out);
		ck_assert_str_eq(text, cases[i][1]);
		free(text);
	}
	char small[RCORE_ESCAPE_SIZE + 4];
	ck_assert_str_eq(rcore_escape(small, sizeof(small), "0123456789abcdefghi"),
			 "0123456789abcdefghi");
	ck_assert_str_eq(rcore_escape(small, sizeof(small), "0123456789abcdefghij"),
			 "0123456789abcdef...");
	ck_assert_str_eq(rcore_escape(small, sizeof(small), "\1\1\1\1\1\1"),
			 "\\x01\\x01\\x01\\x01...");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {problems_have_lines,
				      doctor_explains_weaving,
				      hang_has_a_name,
				      explains_deadlock,
				      crash_has_its_function,
				      woven_json_is_valid,
				      json_is_valid,
				      json_keeps_bytes,
				      json_is_streamed,
				      recursion_is_folded,
				      problems_are_not_folded,
				      libraries_are_folded,
				      bundlers_option_is_short,
				      parked_fibers_are_merged,
				      replaced_files_are_told,
				      escapes};
	const struct rcore_test_loop loops[] = {{golden, RCORE_COUNT(goldens)},
						{printable, SNAPSHOTS * RCORE_COUNT(writers)},
						{pick, RCORE_COUNT(picks)},
						{full_disk, RCORE_COUNT(writers)},
						{seconds_are_short, RCORE_COUNT(seconds)}};
	const struct rcore_test_suite suite = {
		.name = "report",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
