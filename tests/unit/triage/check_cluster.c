/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/count.h"
#include "rcore.h"
#include "report/result.h"
#include "triage/cluster.h"
#include "suite.h"

static struct rcore_arena arena;

static void setup(void)
{
	arena = (struct rcore_arena){0};
}

static void teardown(void)
{
	rcore_arena_deinit(&arena);
}

static struct rcore_result crash(const char *core, const char *loose, const char *text)
{
	return (struct rcore_result){.core = core, .loose = loose, .loose_text = text};
}

START_TEST(groups)
{
	struct rcore_result results[] = {
		crash("a", "r1:1", "X\nfoo\nbar\n"),
		crash("b", "r1:2", "X\nbaz\n"),
		crash("c", "r1:2", "X\nbaz\n"),
		{.core = "d", .status = 2, .error = "no"},
		crash("e", "r1:3", "X\nfoo\nbar\nqux\n"),
	};
	struct rcore_clusters clusters;
	results[1].status = 1;
	ck_assert_ptr_null(rcore_cluster_make(results, 5, NULL, 0, &arena, &clusters));
	ck_assert_uint_eq(clusters.count, 3);
	ck_assert_str_eq(clusters.items[0].signature, "r1:2");
	ck_assert_uint_eq(clusters.items[0].count, 2);
	ck_assert_str_eq(clusters.items[0].first->core, "c");
	ck_assert_int_eq(clusters.items[0].novelty, RCORE_NOVELTY_UNKNOWN);
	ck_assert_ptr_null(clusters.items[1].similar_to);
	ck_assert_str_eq(clusters.items[2].similar_to, "r1:1");
	ck_assert_uint_eq(clusters.items[2].similarity, 85);
	ck_assert_uint_eq(clusters.failed_count, 1);
	ck_assert_str_eq(clusters.failed[0]->core, "d");
	ck_assert_uint_eq(clusters.gone_count, 0);
}
END_TEST

START_TEST(baseline)
{
	const struct rcore_result results[] = {crash("a", "r1:1", "X\nfoo\n"),
					       crash("b", "r1:2", "X\nbar\nbaz\n")};
	const struct rcore_result old[] = {crash("o", "r1:4", "X\nq\n"),
					   crash("p", "r1:1", "X\nfoo\n"),
					   crash("q", "r1:3", "X\nbar\nbaz\nq\n"),
					   crash("r", "r1:4", "X\nq\n"),
					   {.core = "s"}};
	struct rcore_clusters clusters;
	ck_assert_ptr_null(rcore_cluster_make(results, 2, old, 5, &arena, &clusters));
	ck_assert_uint_eq(clusters.count, 2);
	ck_assert_int_eq(clusters.items[0].novelty, RCORE_NOVELTY_KNOWN);
	ck_assert_int_eq(clusters.items[1].novelty, RCORE_NOVELTY_NEW);
	ck_assert_str_eq(clusters.items[1].similar_to, "r1:3");
	ck_assert_uint_eq(clusters.gone_count, 2);
	ck_assert_str_eq(clusters.gone[0]->loose, "r1:3");
	ck_assert_str_eq(clusters.gone[1]->loose, "r1:4");
	ck_assert_ptr_null(rcore_cluster_make(results, 2, old, 0, &arena, &clusters));
	ck_assert_int_eq(clusters.items[0].novelty, RCORE_NOVELTY_NEW);
	ck_assert_ptr_null(rcore_cluster_make(NULL, 0, NULL, 0, &arena, &clusters));
	ck_assert_uint_eq(clusters.count, 0);
}
END_TEST

START_TEST(similarity)
{
	ck_assert_uint_eq(rcore_similarity("a\nb\nc\n", "a\nb\nc\n"), 100);
	ck_assert_uint_eq(rcore_similarity("a\nb\n", "c\nd\n"), 0);
	ck_assert_uint_eq(rcore_similarity("a\nb\nc\nd", "a\nx\nc\nd"), 75);
	ck_assert_uint_eq(rcore_similarity("ab\nc", "a\nbc"), 0);
	ck_assert_uint_eq(rcore_similarity("", ""), 0);
	ck_assert_uint_eq(rcore_similarity("a", ""), 0);
}
END_TEST

/* Writes a line and reads it back. The caller frees *ret_text. */
static struct rcore_result there_and_back(const struct rcore_result *result, char **ret_text)
{
	struct rcore_result back;
	size_t size;
	FILE *out = open_memstream(ret_text, &size);
	ck_assert_ptr_null(rcore_result_write(result, out));
	fclose(out);
	ck_assert_ptr_eq(strchr(*ret_text, '\n'), *ret_text + size - 1);
	ck_assert_ptr_null(rcore_result_parse(*ret_text, &arena, &back));
	return back;
}

/* What is written can be read back unchanged, even bytes that are not UTF-8. */
START_TEST(lines)
{
	const char *ruby[] = {"Foo#bar (a.rb)", "<main> (\xff)"}, *native[] = {"abort"};
	const char *classes[] = {"String", "Order"};
	uint64_t objects[] = {7, 1}, bytes[] = {UINT64_C(5000000000), 40};
	const struct rcore_result result = {
		.core = "core \"x\"\n\xfe",
		.status = 1,
		.cause = "Killed \x1b",
		.blame = "Foo#bar",
		.path = "a.rb",
		.line = 7,
		.loose = "r1:0123456789abcdef",
		.loose_text = "SIGSEGV\nFoo#bar\n",
		.time = "2026-11-23T09:05:12Z",
		.time_source = "clock",
		.host = "web\xff",
		.host_source = "machine",
		.service = "shop",
		.release = "1.4",
		.pid = 4242,
		.signal = "SIGSEGV",
		.build_id = "00ff",
		.ruby_frames = {ruby, 2},
		.native_frames = {native, 1},
		.heap = {true, 8, UINT64_C(5000000040), {classes, 2}, objects, bytes, NULL},
	};
	char *text;
	struct rcore_result back = there_and_back(&result, &text);
	ck_assert_str_eq(back.core, result.core);
	ck_assert_str_eq(back.cause, result.cause);
	ck_assert_str_eq(back.loose_text, result.loose_text);
	ck_assert_int_eq(back.line, 7);
	ck_assert_int_eq(back.status, 1);
	ck_assert_ptr_null(back.gem);
	ck_assert_str_eq(back.time, result.time);
	ck_assert_str_eq(back.time_source, "clock");
	ck_assert_str_eq(back.host, result.host);
	ck_assert_str_eq(back.host_source, "machine");
	ck_assert_str_eq(back.service, "shop");
	ck_assert_str_eq(back.release, "1.4");
	ck_assert_int_eq(back.pid, 4242);
	ck_assert_str_eq(back.signal, "SIGSEGV");
	ck_assert_str_eq(back.build_id, "00ff");
	ck_assert_uint_eq(back.ruby_frames.count, 2);
	ck_assert_str_eq(back.ruby_frames.items[0], ruby[0]);
	ck_assert_str_eq(back.ruby_frames.items[1], "<main> (\xef\xbf\xbd)");
	ck_assert_uint_eq(back.native_frames.count, 1);
	ck_assert(back.heap.is_known);
	ck_assert_uint_eq(back.heap.objects, 8);
	ck_assert_uint_eq(back.heap.bytes, UINT64_C(5000000040));
	ck_assert_uint_eq(back.heap.classes.count, 2);
	ck_assert_mem_eq(back.heap.class_objects, objects, sizeof(objects));
	ck_assert_mem_eq(back.heap.class_bytes, bytes, sizeof(bytes));
	free(text);
}
END_TEST

/* A line of version 1, which has fewer fields, can be read, too. */
START_TEST(older_lines)
{
	struct rcore_result back;
	ck_assert_ptr_null(rcore_result_parse("{\"schema\":\"rcore-triage/1\",\"status\":0,"
					      "\"core\":\"x\",\"loose\":\"r1:1\"}",
					      &arena, &back));
	ck_assert_str_eq(back.loose, "r1:1");
	ck_assert_ptr_null(back.time);
	ck_assert(!back.heap.is_known && !back.ruby_frames.count);
}
END_TEST

/* A member of the wrong type is ignored. */
START_TEST(odd_lines)
{
	struct rcore_result back;
	ck_assert_ptr_null(rcore_result_parse(
		"{\"schema\":\"rcore-triage/2\",\"core\":\"x\",\"pid\":\"7\",\"host\":7,"
		"\"ruby_frames\":[1,null,\"a\"],\"native_frames\":{},\"heap_objects\":1,"
		"\"heap_classes\":[\"A\",\"B\"],\"heap_class_objects\":[\"x\"]}",
		&arena, &back));
	ck_assert_int_eq(back.pid, 0);
	ck_assert_ptr_null(back.host);
	ck_assert_uint_eq(back.ruby_frames.count, 3);
	ck_assert_str_eq(back.ruby_frames.items[0], "");
	ck_assert_str_eq(back.ruby_frames.items[2], "a");
	ck_assert_uint_eq(back.native_frames.count, 0);
	ck_assert_uint_eq(back.heap.classes.count, 2);
	ck_assert_uint_eq(back.heap.class_objects[1], 0);
	ck_assert_uint_eq(back.heap.class_bytes[1], 0);
}
END_TEST

static const char *const wrong[] = {
	"",
	"{",
	"[]",
	"7",
	"null",
	"{}",
	"{\"schema\":\"rcore/1\",\"core\":\"x\"}",
	"{\"schema\":\"rcore-triage/1\"}",
	"{\"schema\":\"rcore-triage/2\"}",
	"{\"schema\":\"rcore-triage/3\",\"core\":\"x\"}",
	"{\"schema\":7,\"core\":\"x\"}",
	"{\"schema\":\"rcore-triage/1\",\"core\":[]}",
};

START_TEST(wrong_lines)
{
	struct rcore_result back;
	struct rcore_error *err = rcore_result_parse(wrong[_i], &arena, &back);
	ck_assert(err && err->code == RCORE_ERROR_FORMAT);
	rcore_error_free(err);
}
END_TEST

/* ASan ends a process that has no memory left. */
#ifndef __SANITIZE_ADDRESS__
START_TEST(lack_of_memory)
{
	enum { ITEMS = 1 << 21 };
	static char line[3 * ITEMS + 64] = "{\"schema\":\"rcore-triage/2\",\"x\":[\"\"";
	const struct rlimit limit = {48 << 20, 48 << 20};
	struct rcore_result back;
	for (char *end = line + strlen(line), *last = end + 3 * ITEMS; end < last; end += 3)
		memcpy(end, ",\"\"", 3);
	strcat(line + 3 * ITEMS, "]}");
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	struct rcore_error *err = rcore_result_parse(line, &arena, &back);
	ck_assert(err && err->code == RCORE_ERROR_NO_MEMORY);
}
END_TEST
#endif

int main(void)
{
	const TTest *const tests[] = {groups,         baseline, similarity, lines, older_lines,
#ifndef __SANITIZE_ADDRESS__
				      lack_of_memory,
#endif
				      odd_lines};
	const struct rcore_test_loop loops[] = {{wrong_lines, RCORE_COUNT(wrong)}};
	const struct rcore_test_suite suite = {
		.name = "cluster",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.begin = setup,
		.end = teardown,
	};
	return rcore_test_suite_run(&suite);
}
