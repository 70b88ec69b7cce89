/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/count.h"
#include "json_schema.h"
#include "report/report.h"
#include "suite.h"

#define PAIR(slot_, name_, text_)                                                       \
	{                                                                               \
		.key = 0x1001 + (slot_)*16, .slot = slot_,                              \
		.variable = {.name = name_, .value = {.value = 0x7f10, .text = text_}}, \
	}

static struct rcore_context_pair plain[] = {PAIR(0, "request_id", "\"abc123\""),
					    PAIR(1, "user_id", "42"), PAIR(3, "kind", ":web")};
static struct rcore_context_pair hostile[] = {PAIR(0, "odd key", "\"a\\e[31m\""),
					      PAIR(1, "q\"u\\o=te", "\xff\033[2J\xe2\x80\xae"),
					      PAIR(2, "", "nil"), PAIR(3, NULL, NULL)};
static struct rcore_thread thread;
static struct rcore_fiber fibers[4];
static struct rcore_snapshot snapshot;
static int all[] = {0, 1, 2, 3};

static void begin(void)
{
	static const char *const ids[] = {"T1.F0", "T1.F1", "T1.F10", "T1.F11"};
	memset(fibers, 0, sizeof(fibers));
	for (int i = 0; i < 4; i++) {
		strcpy(fibers[i].id, ids[i]);
		fibers[i].status = RCORE_FIBER_SUSPENDED;
		fibers[i].resumed_by = fibers[i].resuming = fibers[i].group = -1;
		fibers[i].object = 0x7f0000001000 + (uint64_t)i;
	}
	fibers[0].is_current = true;
	fibers[1].context = (struct rcore_context){.present = true,
						   .table = 0x1000,
						   .size = 3,
						   .capacity = 4,
						   .pairs = plain,
						   .pair_count = 3};
	fibers[2].context = (struct rcore_context){.present = true,
						   .table = 0x2000,
						   .size = 5,
						   .capacity = 4,
						   .pairs = hostile,
						   .pair_count = 4,
						   .problem = "its size is 5 \033[1m",
						   .has_thread_local = true,
						   .difference = "stale"};
	hostile[3].variable.problem = "the key of slot 3 is not an ID";
	hostile[3].variable.value.problem = "0x7f10: unmapped";
	thread = (struct rcore_thread){
		.id = "T1", .fibers = all, .fiber_count = 4, .ractor = -1, .is_main = true};
	snapshot = (struct rcore_snapshot){.threads = &thread,
					   .thread_count = 1,
					   .fibers = fibers,
					   .fiber_count = 4,
					   .cause = {.thread = -1, .fiber = -1}};
}

typedef struct rcore_error *report(const struct rcore_snapshot *,
				   const struct rcore_report_options *, FILE *);

/* malloc'ed; NULL and *code on an error. */
static char *printed(report *print, const struct rcore_report_options *options, int *code)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct rcore_error *err = print(&snapshot, options, out);
	fclose(out);
	*code = err ? (int)err->code : 0;
	rcore_error_free(err);
	if (*code) {
		free(text);
		return NULL;
	}
	return text;
}

static void check(report *print, const struct rcore_report_options *options,
		  const char *expected)
{
	int code;
	char *text = printed(print, options, &code);
	ck_assert_int_eq(code, 0);
	ck_assert_str_eq(text, expected);
	free(text);
}

#define HOSTILE                                                                       \
	"T1.F10  suspended   \"odd key\"=\"a\\e[31m\" \"q\\\"u\\\\o=te\"=\\xFF\\e[2J" \
	"\\u{202E} \"\"=nil <ID 0x1031>=<unreadable>\n"                               \
	"    ! its size is 5 \\e[1m\n"                                                \
	"    ! the key of slot 3 is not an ID\n"                                      \
	"    ! 0x7f10: unmapped\n"                                                    \
	"    - stale\n"
#define PLAIN "T1.F1   suspended   request_id=\"abc123\" user_id=42 kind=:web\n"

START_TEST(test_text)
{
	begin();
	check(rcore_report_state, NULL,
	      PLAIN HOSTILE "2 fibers without a context (--all shows each)\n");
	const struct rcore_report_options options = {.all = true};
	check(rcore_report_state, &options,
	      "T1.F0   current\n" PLAIN HOSTILE "T1.F11  suspended\n");
	const struct rcore_report_options one = {.fiber = "T1.F1"};
	check(rcore_report_state, &one, PLAIN);
}
END_TEST

static const char *where[2];
static struct rcore_report_options conditions(const char *first, const char *second)
{
	where[0] = first;
	where[1] = second;
	return (struct rcore_report_options){.where = where, .where_count = second ? 2 : 1};
}

#define PLAIN_STACK "  T1.F1    suspended  request_id=\"abc123\" user_id=42 kind=:web\n"

/* The same next to stacks, which these fibers do not have. */
START_TEST(test_stacks)
{
	begin();
	const struct rcore_report_options one = {.stacks = true, .fiber = "T1.F1"};
	check(rcore_report_state, &one, PLAIN_STACK);
	struct rcore_report_options options = conditions("user_id=42", NULL);
	options.stacks = true;
	check(rcore_report_state, &options, PLAIN_STACK);
	const struct rcore_report_options bare = {.stacks = true, .fiber = "T1.F11"};
	check(rcore_report_state, &bare, "  T1.F11   suspended\n");
	const struct rcore_report_options every = {.stacks = true};
	int code;
	char *text = printed(rcore_report_state, &every, &code);
	ck_assert_int_eq(code, 0);
	ck_assert(strstr(text, PLAIN_STACK) && strstr(text, "T1.F10") &&
		  !strstr(text, "T1.F11"));
	ck_assert(strstr(text, "\n2 fibers without a context (--all shows each)\n"));
	free(text);
}
END_TEST

START_TEST(test_where)
{
	begin();
	static const char *const good[] = {
		"request_id=abc123", "request_id=\"abc123\"",
		"request_id",        "user_id=42",
		"kind=web",          "kind=:web",
	};
	static const char *const bad[] = {
		"request_id=abc12", "request_id=abc1234",
		"request=abc123",   "user_id=4",
		"user_id=",         "nothing",
		"kind=we",          "=nil",
	};
	struct rcore_report_options options;
	for (size_t i = 0; i < RCORE_COUNT(good); i++) {
		options = conditions(good[i], NULL);
		check(rcore_report_state, &options, PLAIN);
		options = conditions(good[i], "user_id=42");
		check(rcore_report_state, &options, PLAIN);
	}
	for (size_t i = 0; i + 1 < RCORE_COUNT(bad); i++) {
		int code;
		options = conditions(bad[i], NULL);
		ck_assert_ptr_null(printed(rcore_report_state, &options, &code));
		ck_assert_int_eq(code, RCORE_ERROR_USAGE);
		options = conditions("user_id=42", bad[i]);
		ck_assert_ptr_null(printed(rcore_report_text, &options, &code));
		ck_assert_int_eq(code, RCORE_ERROR_USAGE);
	}
	options = conditions("=nil", NULL);
	check(rcore_report_state, &options, HOSTILE);
}
END_TEST

/* The report shows only that fiber. */
START_TEST(test_report)
{
	begin();
	int code;
	struct rcore_report_options options = conditions("user_id=42", NULL);
	char *text = printed(rcore_report_text, &options, &code);
	ck_assert_int_eq(code, 0);
	ck_assert_ptr_nonnull(strstr(text, "suspended  request_id=\"abc123\" user_id=42"));
	ck_assert_ptr_null(strstr(text, "T1.F10"));
	ck_assert_ptr_null(strstr(text, "T1.F0"));
	free(text);
	text = printed(rcore_report_text, NULL, &code);
	ck_assert_ptr_nonnull(strstr(text, "T1.F10"));
	ck_assert_ptr_nonnull(strstr(text, "! its size is 5 \\e[1m"));
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
}
END_TEST

/* Fibers parked with the same stack still have their own contexts. */
START_TEST(test_group)
{
	begin();
	int code, members[] = {1, 2, 3};
	struct rcore_frame frame = {
		.kind = RCORE_FRAME_RUBY, .label = "wait", .path = "a.rb", .line = 1};
	struct rcore_fiber_group group = {.fibers = members, .count = 3};
	snapshot.groups = &group;
	snapshot.group_count = 1;
	for (int i = 1; i < 4; i++) {
		fibers[i].frames = &frame;
		fibers[i].frame_count = 1;
		fibers[i].group = 0;
	}
	char *text = printed(rcore_report_text, NULL, &code);
	ck_assert_ptr_nonnull(strstr(text, "3 fibers"));
	ck_assert_ptr_nonnull(
		strstr(text, "\n    T1.F1  request_id=\"abc123\" user_id=42 kind=:web\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n      ! its size is 5 \\e[1m\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n    T1.F11\n"));
	free(text);
}
END_TEST

START_TEST(test_json)
{
	begin();
	int code;
	char why[256];
	char *text = printed(rcore_report_json, NULL, &code);
	struct json_object *whole = json_tokener_parse(text);
	struct json_object *schema = json_object_from_file("docs/rcore-1.schema.json");
	ck_assert_msg(json_schema_valid(schema, whole, why, sizeof(why)), "%s", why);
	struct json_object *list, *context, *pairs, *member;
	json_object_object_get_ex(whole, "fibers", &list);
	json_object_object_get_ex(json_object_array_get_idx(list, 1), "context", &context);
	json_object_object_get_ex(context, "pairs", &pairs);
	ck_assert_uint_eq(json_object_array_length(pairs), 3);
	json_object_object_get_ex(json_object_array_get_idx(pairs, 0), "name", &member);
	ck_assert_str_eq(json_object_get_string(member), "request_id");
	json_object_object_get_ex(json_object_array_get_idx(pairs, 0), "text", &member);
	ck_assert_str_eq(json_object_get_string(member), "\"abc123\"");
	ck_assert(!json_object_object_get_ex(json_object_array_get_idx(list, 0), "context",
					     &context));
	json_object_put(whole);
	json_object_put(schema);
	free(text);

	text = printed(rcore_report_state_json, NULL, &code);
	whole = json_tokener_parse(text);
	json_object_object_get_ex(whole, "schema", &member);
	ck_assert_str_eq(json_object_get_string(member), "rcore-state/1");
	json_object_object_get_ex(whole, "fibers", &list);
	ck_assert_uint_eq(json_object_array_length(list), 2);
	json_object_object_get_ex(json_object_array_get_idx(list, 1), "context", &context);
	json_object_object_get_ex(context, "difference", &member);
	ck_assert_str_eq(json_object_get_string(member), "stale");
	json_object_put(whole);
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_text,   test_stacks, test_where,
				      test_report, test_group,  test_json};
	const struct rcore_test_suite suite = {
		.name = "state",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
