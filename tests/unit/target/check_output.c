/* SPDX-License-Identifier: MIT */
/*
 * What happens if somebody puts something else in an output's place while it is
 * written.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "target/output/output.h"
#include "suite.h"

static char folder[] = "/tmp/rcore-check-XXXXXX", path[64], other[64];

static void set_up(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/out", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
}

static void tear_down(void)
{
	unlink(path);
	unlink(other);
	/* Nothing else is left. */
	ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static void expect(const char *name, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert(fgets(found, sizeof(found), file));
	fclose(file);
	ck_assert_str_eq(found, text);
}

/* Opens the output over a file, and writes to it. */
static void begin(struct rcore_output *output, enum rcore_output_kind kind)
{
	put(path, "old");
	struct rcore_error *err = rcore_output_open(path, kind, NULL, output);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	ck_assert_int_eq(write(output->fd, "new", 3), 3);
}

static void refuses(struct rcore_output *output)
{
	struct rcore_error *err = rcore_output_keep(output);
	ck_assert_ptr_nonnull(err);
	ck_assert_msg(strstr(err->message, "another program replaced it"), "%s", err->message);
	ck_assert_int_eq(err->code, RCORE_ERROR_OS);
	rcore_error_free(err);
	rcore_output_close(output);
}

START_TEST(replaces_the_file)
{
	struct rcore_output output;
	begin(&output, _i ? RCORE_OUTPUT_PRIVATE : RCORE_OUTPUT_REPORT);
	ck_assert_ptr_null(rcore_output_keep(&output));
	rcore_output_close(&output);
	expect(path, "new");
}
END_TEST

START_TEST(leaves_a_fifo_that_came_in_between)
{
	struct rcore_output output;
	struct stat status;
	begin(&output, RCORE_OUTPUT_REPORT);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refuses(&output);
	ck_assert_int_eq(lstat(path, &status), 0);
	ck_assert(S_ISFIFO(status.st_mode));
}
END_TEST

START_TEST(leaves_a_file_that_came_in_between)
{
	struct rcore_output output;
	begin(&output, RCORE_OUTPUT_REPORT);
	put(other, "other");
	ck_assert_int_eq(rename(other, path), 0);
	refuses(&output);
	expect(path, "other");
}
END_TEST

START_TEST(leaves_a_link_that_came_in_between)
{
	struct rcore_output output;
	begin(&output, RCORE_OUTPUT_PRIVATE);
	put(other, "other");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink(other, path), 0);
	refuses(&output);
	expect(other, "other");
	expect(path, "other");
}
END_TEST

/* If the old file is deleted, nothing is in the way. */
START_TEST(takes_a_place_that_became_free)
{
	struct rcore_output output;
	begin(&output, RCORE_OUTPUT_REPORT);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_ptr_null(rcore_output_keep(&output));
	rcore_output_close(&output);
	expect(path, "new");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		leaves_a_fifo_that_came_in_between, leaves_a_file_that_came_in_between,
		leaves_a_link_that_came_in_between, takes_a_place_that_became_free};
	const struct rcore_test_loop loops[] = {{replaces_the_file, 2}};
	const struct rcore_test_suite suite = {
		.name = "output",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.begin = set_up,
		.end = tear_down,
	};
	return rcore_test_suite_run(&suite);
}
