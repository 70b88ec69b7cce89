/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "vm/load.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/work/work.h"
#include "vm_suite.h"

enum { WORD = 8, BOOKKEEPING = 2 };

static struct rcore_ruby ruby;
static struct rcore_snapshot *snapshot;
static struct rcore_recognizers recognizers;

static struct fake_ruby *fake(void)
{
	return &world.vm.ruby;
}

/* Foo#run(env, list, row, none), whose frame is the innermost of the parked fiber. */
static void push_method(const uint64_t *locals, size_t count)
{
	static const char *const names[] = {"env", "list", "row", "none"};
	struct fake_vm *vm = &world.vm;
	uint64_t body = FAKE_GET(vm, world.run, iseq, body);
	uint64_t table = fake_alloc(&fake()->target, count * WORD, 8);
	uint64_t cfp = fake_cfp(vm, world.parked);
	uint64_t sp = FAKE_GET(vm, cfp, cfp, sp);
	for (size_t i = 0; i < count; i++) {
		fake_put(&fake()->target, table + i * WORD, fake_id(fake(), names[i]));
		fake_put(&fake()->target, sp + i * WORD, locals[i]);
	}
	FAKE_PUT(vm, body, iseq_body, local_table, table);
	FAKE_PUT(vm, body, iseq_body, local_table_size, count);
	FAKE_PUT(vm, cfp, cfp, sp, sp + count * WORD);
	fake_push(vm, world.parked,
		  &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
				       .iseq = world.run,
				       .pc = 1,
				       .self = FAKE_FIXNUM(77),
				       .me_cref = world.run_method});
}

/* An environment of Rack, an Array, and a number. */
static void push_request(bool is_large)
{
	struct fake_pair pairs[12] = {
		{fake_string(fake(), "REQUEST_METHOD"), fake_string(fake(), "GET")},
		{fake_symbol(fake(), "sql"), FAKE_FIXNUM(5)},
		{fake_string(fake(), "empty"), (uint64_t)fake()->layout.constant.qnil},
		{FAKE_FIXNUM(3), FAKE_FIXNUM(4)},
	};
	size_t count = 4;
	for (; is_large && count < RCORE_COUNT(pairs); count++)
		pairs[count] = (struct fake_pair){FAKE_FIXNUM(100 + count), FAKE_FIXNUM(1)};
	uint64_t inner = fake_string(fake(), "deep");
	uint64_t elements[] = {FAKE_FIXNUM(10), fake_array_embedded(fake(), &inner, 1)};
	uint64_t locals[] = {
		is_large ? fake_hash_st(fake(), pairs, count, 0)
			 : fake_hash_ar(fake(), pairs, count, 0),
		fake_array_embedded(fake(), elements, 2),
		FAKE_FIXNUM(6),
		(uint64_t)fake()->layout.constant.qnil,
	};
	push_method(locals, RCORE_COUNT(locals));
}

static const struct rcore_fiber *load(void)
{
	snapshot = calloc(1, sizeof(*snapshot));
	rcore_ruby_init(&ruby, &fake()->target.memory, &fake()->layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ruby.global_symbols = fake()->symbols;
	ruby.shape_list = fake()->shapes;
	ck_assert_ptr_null(rcore_vm_load(&ruby, world.vm.address, &world.process, snapshot));
	return world_fiber(snapshot, world.parked);
}

static void unload(void)
{
	rcore_ruby_deinit(&ruby);
	world_free(snapshot);
}

static void check_paths(const struct rcore_fiber *fiber)
{
	static const struct {
		const char *path;
		bool found;
		uint64_t fixnum; /* 0: another value */
		const char *text;
	} cases[] = {
		{"row", true, 6, NULL},
		{"self", true, 77, NULL},
		{"self.class", true, 77, "Integer"},
		{"env['REQUEST_METHOD']", true, 0, NULL},
		{"env['REQUEST_METHO']", false, 0, NULL},
		{"env[:sql]", true, 5, NULL},
		{"env['sql']", false, 0, NULL},
		{"env['empty']", false, 0, NULL},
		{"list[0]", true, 10, NULL},
		{"list[1][0]", true, 0, NULL},
		{"list[2]", false, 0, NULL},
		/* Of another type than the step leads on from. */
		{"list['x']", false, 0, NULL},
		{"env[0]", false, 0, NULL},
		{"row['x']", false, 0, NULL},
		{"row.@x", false, 0, NULL},
		{"list.member", false, 0, NULL},
		{"none", false, 0, NULL},
		{"nothing", false, 0, NULL},
		/* Not a method written in C. */
		{"argv[0]", false, 0, NULL},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		const struct rcore_value_path *path;
		struct rcore_path_value at;
		ck_assert_ptr_null(
			rcore_value_path_parse(&snapshot->arena, cases[i].path, &path));
		ck_assert_ptr_null(
			rcore_value_path_follow(&ruby, fiber, &fiber->frames[0], path, &at));
		ck_assert_msg(at.found == cases[i].found, "%s", cases[i].path);
		if (cases[i].fixnum)
			ck_assert_uint_eq(at.value, FAKE_FIXNUM(cases[i].fixnum));
		ck_assert_pstr_eq(at.found ? at.text : NULL, cases[i].text);
	}
}

/* Paths begin at the variables, which are below the two words below ep. */
static void check_starts(const struct rcore_fiber *fiber)
{
	static const struct {
		const char *path;
		uint64_t words_below_ep; /* 0: it begins at no variable */
	} cases[] = {
		{"env['empty']", 6}, {"env", 6},        {"list[7]", 5}, {"row", 4},
		{"none.@x", 3},      {"self.class", 0}, {"nothing", 0}, {"argv[0]", 0},
	};
	const struct rcore_frame *frame = &fiber->frames[0];
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		const struct rcore_value_path *path;
		uint64_t start, below = cases[i].words_below_ep;
		ck_assert_ptr_null(
			rcore_value_path_parse(&snapshot->arena, cases[i].path, &path));
		ck_assert_ptr_null(rcore_value_path_start(&ruby, fiber, frame, path, &start));
		ck_assert_uint_eq(start, below ? frame->ep - below * WORD : 0);
	}
}

START_TEST(test_paths)
{
	for (int is_large = 0; is_large < 2; is_large++) {
		world_begin(_i);
		push_request(is_large);
		const struct rcore_fiber *fiber = load();
		check_starts(fiber);
		check_paths(fiber);
		unload();
	}
}
END_TEST

START_TEST(test_bad_paths)
{
	static const struct {
		const char *path, *says;
	} cases[] = {
		{"", "expected a name at character 1"},
		{"@x", "expected a name at character 1"},
		{"env[", "expected 'string', :symbol or a number at character 5"},
		{"env['x", "expected a closing ' at character 6"},
		{"env['']", "expected a string of 1 to 64 bytes"},
		{"env[:a1234567890123456789012345678901234567890123456789012345678901234]",
		 "expected a name of 1 to 64 bytes"},
		{"env['x'", "expected ] at character 8"},
		{"env[4096]", "expected a number below 4096"},
		{"env x", "expected . or [ at character 4"},
		{"self.", "expected a name at character 6"},
		{"self.class.x", "expected the end of the path at character 11"},
		{"argv", "expected argv[NUMBER]"},
		{"argv['x']", "expected argv[NUMBER]"},
		{"a.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b", "16 steps are the most"},
	};
	struct rcore_arena arena = {0};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		const struct rcore_value_path *path;
		struct rcore_error *err = rcore_value_path_parse(&arena, cases[i].path, &path);
		ck_assert_msg(err && err->code == RCORE_ERROR_FORMAT &&
				      strstr(err->message, cases[i].says),
			      "%s: %s", cases[i].path, err ? err->message : "no error");
		rcore_error_free(err);
	}
	rcore_arena_deinit(&arena);
}
END_TEST

static struct rcore_error *read_text(const char *text)
{
	char path[] = "/tmp/rcore-check-work.XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	struct rcore_error *err = rcore_recognizers_read(&recognizers, path);
	unlink(path);
	return err;
}

#define ENTRY(name, methods, more)                                                     \
	"{\"name\": \"" name "\", \"kind\": \"request\", \"methods\": [" methods "], " \
	"\"fields\": {\"method\": \"env['REQUEST_METHOD']\", \"row\": [\"none\", "     \
	"\"row\"]}" more "}"

START_TEST(test_recognize)
{
	static const struct {
		const char *entry;
		size_t fields; /* 0: not recognized */
	} cases[] = {
		{ENTRY("a", "\"Foo#run\"", ""), 2},
		{ENTRY("a", "\"#run\"", ""), 2},
		{ENTRY("a", "\"Foo.run\", \"#run\"", ", \"take\": \"innermost\""), 2},
		{ENTRY("a", "\"#run\"", ", \"requires\": [\"method\", \"row\"]"), 2},
		{ENTRY("a", "\"un\"", ""), 0},
		{ENTRY("a", "\"Bar#run\"", ""), 0},
		{"{\"name\": \"a\", \"kind\": \"k\", \"methods\": [\"#run\"], \"requires\": "
		 "[\"y\"],\"fields\": {\"x\": \"row\", \"y\": \"none\"}}",
		 0},
	};
	static const struct rcore_inspect_options inspect;
	char text[1024];
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		world_begin(_i);
		push_request(false);
		snprintf(text, sizeof(text), "{\"recognizers\": [%s]}", cases[i].entry);
		ck_assert_ptr_null(read_text(text));
		const struct rcore_fiber *fiber = load();
		ck_assert_ptr_null(rcore_vm_work(&ruby, &recognizers, &inspect, snapshot));
		ck_assert_uint_eq(fiber->works.count, cases[i].fields > 0);
		if (cases[i].fields) {
			const struct rcore_work *work = &fiber->works.items[0];
			ck_assert_str_eq(work->recognizer, "a");
			ck_assert_str_eq(work->kind, "request");
			ck_assert_uint_eq(work->fields.count, cases[i].fields);
			ck_assert_str_eq(work->fields.items[0].value.text, "\"GET\"");
			ck_assert_str_eq(work->fields.items[1].name, "row");
			ck_assert_str_eq(work->fields.items[1].value.text, "6");
		}
		unload();
		rcore_recognizers_deinit(&recognizers);
	}
}
END_TEST

START_TEST(test_bad_files)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "not JSON"},
		{"{", "not JSON: unexpected end of data at byte 1"},
		{"[]", "no array \"recognizers\""},
		{"null\n", "no array \"recognizers\""},
		{"{\"recognizers\": 1}", "no array \"recognizers\""},
		{"{\"recognizers\": [1]}", "recognizer 1 is not an object"},
		{"{\"recognizers\": [{}]}", "recognizer 1 has no string \"name\""},
		{"{\"recognizers\": [{\"nam\": \"x\"}]}", "unknown member 'nam'"},
		{"{\"recognizers\": [" ENTRY("a", "\"#x\"", "") ", " ENTRY("b", "", "") "]}",
		 "recognizer 2 has no methods"},
		{"{\"recognizers\": [" ENTRY("a", "\"#x\"", "") ", " ENTRY("a", "\"#y\"",
									   "") "]}",
		 "recognizer 2 has the name of an earlier one"},
		{"{\"recognizers\": [" ENTRY("a", "1", "") "]}", "method that is not a string"},
		{"{\"recognizers\": [" ENTRY("a", "\"#x\"", ", \"take\": \"all\"") "]}",
		 "takes neither"},
		{"{\"recognizers\": [" ENTRY("a", "\"#x\"", ", \"requires\": [\"z\"]") "]}",
		 "requires a field that it does not have"},
		{"{\"recognizers\": [{\"name\": \"a\", \"kind\": \"k\", \"methods\": [\"#x\"],"
		 "\"fields\": {\"f\": \"env[\"}}]}",
		 "recognizer 1: 'env[' is not a path of values"},
		{"{\"recognizers\": [{\"name\": \"a\", \"kind\": \"k\", \"methods\": [\"#x\"],"
		 "\"fields\": {\"f\": []}}]}",
		 "a field without a path"},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		struct rcore_error *err = read_text(cases[i].text);
		ck_assert_msg(err && strstr(err->message, cases[i].says), "%s: %s",
			      cases[i].text, err ? err->message : "no error");
		rcore_error_free(err);
		rcore_recognizers_deinit(&recognizers);
	}
}
END_TEST

/* The user's entry comes first, and replaces the built-in one of its name. */
START_TEST(test_own_entries)
{
	ck_assert_ptr_null(rcore_recognizers_read(&recognizers, NULL));
	size_t count = recognizers.count;
	ck_assert_uint_gt(count, 10);
	rcore_recognizers_deinit(&recognizers);
	ck_assert_ptr_null(read_text("{\"recognizers\": [" ENTRY(
		"Rack", "\"#x\"", "") ", " ENTRY("own", "\"#x\"", "") "]}"));
	ck_assert_uint_eq(recognizers.count, count + 1);
	ck_assert_str_eq(recognizers.items[0].name, "Rack");
	ck_assert_str_eq(recognizers.items[0].methods[0], "#x");
	rcore_recognizers_deinit(&recognizers);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_paths, test_bad_paths, test_recognize,
				      test_bad_files, test_own_entries};
	return world_run("work", tests, RCORE_COUNT(tests));
}
