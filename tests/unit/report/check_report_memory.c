/* SPDX-License-Identifier: MIT */
/*
 * A report is written as a whole, or an error says that memory is short. JSON is
 * the same as json-c's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "draw.h"
#include "image/pack_note.h"
#include "report/formats.h"
#include "report/report.h"
#include "snapshots.h"
#include "suite.h"
#include "target/output/json_tree.h"

START_TEST(same_as_json_c)
{
	char bytes[257];
	size_t size;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	struct json_object *object = json_object_new_object(), *array = json_object_new_array();
	struct json_object *const items[] = {
		json_object_new_string_len(bytes, sizeof(bytes)),
		json_object_new_string(""),
		json_object_new_string("\"quoted\" \\ a/b \x7f"),
		json_object_new_int64(INT64_MIN),
		json_object_new_int64(INT64_MAX),
		json_object_new_int64(0),
		json_object_new_uint64(UINT64_MAX),
		json_object_new_double(0.1),
		json_object_new_double(-1e300),
		json_object_new_boolean(true),
		json_object_new_boolean(false),
		json_object_new_array(),
		json_object_new_object(),
	};
	for (size_t i = 0; i < RCORE_COUNT(items); i++)
		json_object_array_add(array, items[i]);
	json_object_object_add(object, "a \"key\"\n", array);
	json_object_object_add(object, "b", json_object_new_int(1));
	char *text = rcore_json_tree_text(object, &size);
	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(
		text, json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	ck_assert_uint_eq(strlen(text), size);
	free(text);
	/* json-c takes a value that could not be allocated for a null. */
	json_object_array_add(array, NULL);
	ck_assert_ptr_null(rcore_json_tree_text(object, &size));
	json_object_put(object);
}
END_TEST

/* ASan has its own malloc(). */
#ifndef __SANITIZE_ADDRESS__
#include "fail_malloc.h"

enum { ROOM = 1 << 20, DRAWS = 150 };

typedef struct rcore_error *write_report(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, FILE *out);
static write_report *const reports[] = {
	rcore_report_json,  rcore_report_waits_json, rcore_report_gitlab,
	rcore_report_sarif, rcore_report_text,       rcore_report_waits,
	rcore_report_junit, rcore_report_markdown,   rcore_report_github};

/* Fibers with the same stack, each with a state and a wait of its own. */
static void merged(struct rcore_snapshot *snapshot)
{
	enum { FIBERS = 6 };
	static struct rcore_work works[FIBERS];
	static struct rcore_wait waits[FIBERS];
	rcore_test_parked(snapshot, FIBERS, 2);
	for (size_t i = 0; i < FIBERS; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[1 + i];
		works[i] = (struct rcore_work){
			.recognizer = "Rack",
			.kind = rcore_arena_printf(&snapshot->arena, "request %zu", i),
		};
		waits[i] = (struct rcore_wait){
			.kind = RCORE_WAIT_SLEEP,
			.argument = rcore_arena_printf(&snapshot->arena, "%zu.5", i),
		};
		fiber->works = (struct rcore_works){&works[i], 1};
		fiber->wait = &waits[i];
	}
}

static void (*const snapshots[])(struct rcore_snapshot *snapshot) = {
	rcore_test_rich, rcore_test_waits, rcore_test_hostile, merged};
static char whole[ROOM], text[ROOM];
static size_t allocations; /* of the last report */

/* Returns whether it was written as a whole. */
static bool write_to(char buffer[ROOM], write_report *report,
		     const struct rcore_snapshot *snapshot, size_t first, size_t count)
{
	static char room[BUFSIZ];
	memset(buffer, 0, ROOM);
	FILE *out = fmemopen(buffer, ROOM, "w");
	ck_assert_ptr_nonnull(out);
	setvbuf(out, room, _IOFBF, sizeof(room));
	fail_malloc_from(first, count);
	struct rcore_error *err = report(snapshot, NULL, out);
	allocations = fail_malloc.count;
	fail_malloc_from(0, 0);
	bool is_whole = !err;
	if (err)
		ck_assert_int_eq(err->code, RCORE_ERROR_NO_MEMORY);
	rcore_error_free(err);
	fclose(out);
	return is_whole;
}

/* Whichever allocation fails, alone or with all that follow it. */
START_TEST(short_reports)
{
	static const size_t runs[] = {1, SIZE_MAX};
	write_report *report = reports[_i / (int)RCORE_COUNT(snapshots)];
	struct rcore_snapshot snapshot;
	uint64_t seed = random_seed();
	snapshots[_i % (int)RCORE_COUNT(snapshots)](&snapshot);
	ck_assert(write_to(whole, report, &snapshot, SIZE_MAX, 1));
	/* Some reports of some snapshots allocate nothing. */
	size_t total = allocations, refused = 0;
	for (size_t i = 0; i < DRAWS && total; i++) {
		size_t first = 1 + random_below(&seed, (uint32_t)total);
		bool is_whole =
			write_to(text, report, &snapshot, first, runs[i % RCORE_COUNT(runs)]);
		ck_assert_msg(!is_whole || !strcmp(text, whole), "allocation %zu of %zu", first,
			      total);
		refused += !is_whole;
	}
	ck_assert(refused || !total);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(short_notes)
{
	uint64_t fibers[300];
	struct rcore_packed_stack stacks[2] = {{.tid = 7, .problem = "ends early"},
					       {.fiber = 0x7f00}};
	for (size_t i = 0; i < RCORE_COUNT(fibers); i++)
		fibers[i] = 0x7f0000000000 + i;
	const struct rcore_pack_facts facts = {.layout = "a layout, which has many lines\n",
					       .rubyopt = "-W0",
					       .fibers = fibers,
					       .fiber_count = RCORE_COUNT(fibers),
					       .stacks = stacks,
					       .stack_count = RCORE_COUNT(stacks)};
	size_t size, refused = 0;
	bool has_failed = true;
	char *note = rcore_pack_note_write(&facts, &size);
	ck_assert_ptr_nonnull(note);
	for (size_t first = 1; has_failed; first++) {
		fail_malloc_from(first, 1);
		char *other = rcore_pack_note_write(&facts, &size);
		has_failed = fail_malloc_from(0, 0);
		if (other)
			ck_assert_str_eq(other, note);
		refused += !other;
		free(other);
	}
	ck_assert_uint_gt(refused, 0);
	free(note);
}
END_TEST
#endif

int main(void)
{
	const TTest *const tests[] = {
		same_as_json_c,
#ifndef __SANITIZE_ADDRESS__
		short_notes,
#endif
	};
	const struct rcore_test_loop loops[] = {
#ifndef __SANITIZE_ADDRESS__
		{short_reports, RCORE_COUNT(reports) * RCORE_COUNT(snapshots)},
#endif
		{NULL, 0},
	};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "report_memory",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops) - 1,
	});
}
