/* SPDX-License-Identifier: MIT */
/*
 * Tests the rules of rcore.h that a compiler does not check: programs that were
 * compiled with the headers of an earlier or a later librcore, and walking a
 * snapshot. tests/install/api checks the exported symbols.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/sized.h"
#include "rcore.h"
#include "report/report.h"
#include "snapshots.h"
#include "suite.h"

struct options {
	size_t size;
	int first, second;
};

/*
 * Returns what a caller gets if its struct has `size` bytes, of which `first`
 * and the last are set.
 */
static struct rcore_error *read_options(size_t size, unsigned char last, struct options *ret)
{
	unsigned char *given = calloc(1, size + sizeof(size));
	ck_assert_ptr_nonnull(given);
	memcpy(given, &size, sizeof(size));
	memset(given + sizeof(size), 1, sizeof(ret->first));
	if (size)
		given[size - 1] = last;
	*ret = (struct options){0};
	struct rcore_error *err = rcore_sized_copy(ret, given);
	free(given);
	return err;
}

START_TEST(sizes)
{
	struct options options;
	ck_assert_ptr_null(read_options(offsetof(struct options, second), 1, &options));
	ck_assert_uint_eq(options.size, sizeof(options));
	ck_assert_int_eq(options.first, 0x01010101);
	ck_assert_int_eq(options.second, 0);

	ck_assert_ptr_null(read_options(sizeof(options), 1, &options));
	ck_assert_int_ne(options.second, 0);
	ck_assert_ptr_null(read_options(sizeof(options) + 8, 0, &options));
	ck_assert_int_eq(options.first, 0x01010101);
	ck_assert_uint_eq(options.size, sizeof(options));

	options = (struct options){0};
	ck_assert_ptr_null(rcore_sized_copy(&options, NULL));
	ck_assert_uint_eq(options.size, sizeof(options));
}
END_TEST

START_TEST(bad_sizes)
{
	struct options options;
	struct rcore_error *err = read_options(0, 0, &options);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_USAGE);
	ck_assert_ptr_nonnull(strstr(err->message, "size"));
	rcore_error_free(err);
	err = read_options(sizeof(options) + 8, 1, &options);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_USAGE);
	rcore_error_free(err);
}
END_TEST

static void usage(struct rcore_error *err)
{
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_USAGE);
	rcore_error_free(err);
}

/* Each function that receives a struct with a size checks the size first. */
START_TEST(every_struct)
{
	const struct rcore_options options = {.no_native = true};
	const struct rcore_options good = {.size = sizeof(good)};
	const struct rcore_process process = {0};
	const struct rcore_report_options report = {.all = true};
	const struct rcore_print_options print_options = {0};
	const struct rcore_snapshot snapshot = {0};
	const struct rcore_print printed = {0};
	struct rcore_session *session;
	struct rcore_print *print;
	usage(rcore_open_core("/nonexistent", &options, &session));
	usage(rcore_open_pid(getpid(), &options, &session));
	usage(rcore_open_memory(&process, NULL, &good, &session));
	usage(rcore_print(NULL, NULL, 0, &print_options, &print));
	usage(rcore_report(&snapshot, "text", &report, stdout));
	usage(rcore_report_print(&printed, "text", &report, stdout));
}
END_TEST

START_TEST(formats)
{
	struct rcore_snapshot snapshot = {0};
	const struct rcore_report_options options = {.size = sizeof(options), .all = true};
	const struct rcore_report_options older = {
		.size = offsetof(struct rcore_report_options, native), .all = true};
	const struct rcore_report_options *const given[] = {&options, &older};
	char *expected = NULL, *text = NULL;
	size_t size;
	rcore_test_rich(&snapshot);
	FILE *out = open_memstream(&expected, &size);
	ck_assert_ptr_null(rcore_report_json(&snapshot, &options, out));
	fclose(out);
	for (size_t i = 0; i < RCORE_COUNT(given); i++) {
		out = open_memstream(&text, &size);
		ck_assert_ptr_null(rcore_report(&snapshot, "json", given[i], out));
		fclose(out);
		ck_assert_str_eq(text, expected);
		free(text);
	}
	usage(rcore_report(&snapshot, "yaml", NULL, stdout));
	usage(rcore_report_print(&(const struct rcore_print){0}, "yaml", NULL, stdout));
	free(expected);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(walking)
{
	struct rcore_snapshot snapshot = {0};
	const struct rcore_fiber *fiber;
	int frames = 0, fibers = 0, threads = 0;
	rcore_test_rich(&snapshot);
	while (rcore_snapshot_thread(&snapshot, threads))
		threads++;
	ck_assert_uint_eq((size_t)threads, snapshot.thread_count);
	for (; (fiber = rcore_snapshot_fiber(&snapshot, fibers)); fibers++)
		for (int i = 0; rcore_fiber_frame(fiber, i); i++)
			frames++;
	ck_assert_uint_eq((size_t)fibers, snapshot.fiber_count);
	ck_assert_int_gt(frames, 0);
	ck_assert_ptr_null(rcore_snapshot_thread(&snapshot, -1));
	ck_assert_ptr_null(rcore_snapshot_fiber(&snapshot, -1));
	ck_assert_ptr_null(rcore_fiber_frame(&snapshot.fibers[0], -1));
	ck_assert_ptr_null(rcore_fiber_native_frame(&snapshot.fibers[0], -1));
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {sizes, bad_sizes, every_struct, formats, walking};
	const struct rcore_test_suite suite = {
		.name = "api",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
