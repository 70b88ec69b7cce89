/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "session/pack/pack_hide.h"
#include "session/pack/pack_search.h"
#include "fake_target.h"
#include "suite.h"

enum { SIZE = 4096, STRING = 100, STALE = 1500, PATH = 2500, CUT = 3068 };
#define SECRET "alice@example.com"

/*
 * Memory with an e-mail address: in a String, in freed memory, there also across
 * two pages of the recorder, and in a path of code.
 */
struct packed {
	struct fake_target fake;
	struct rcore_recorder *recorder;
	struct rcore_redactor *redactor;
	struct rcore_known_secrets *taken;
	struct rcore_target target;
	struct rcore_pack_source source;
	struct rcore_output output;
	uint64_t start;
	enum rcore_redact mode;
};

static void write_pack(struct packed *packed)
{
	uint64_t size;
	struct rcore_error *err =
		rcore_pack_write(&packed->source, packed->target.memory, packed->recorder, "{}",
				 2, NULL, &packed->output, &size);
	ck_assert_ptr_null(err);
}

static void setup(struct packed *packed, enum rcore_redact mode)
{
	static const struct {
		size_t at;
		const char *text;
	} texts[] = {{STRING, "mail " SECRET " now"},
		     {STALE, SECRET},
		     {PATH, "/srv/" SECRET "/app.rb"},
		     {CUT, SECRET}};
	*packed = (struct packed){.mode = mode};
	fake_target_init(&packed->fake);
	packed->start = fake_alloc(&packed->fake, SIZE, 4096);
	for (size_t i = 0; i < RCORE_COUNT(texts); i++)
		fake_write(&packed->fake, packed->start + texts[i].at, texts[i].text,
			   strlen(texts[i].text));
	packed->recorder = rcore_recorder_new(&packed->fake.memory);
	packed->redactor = rcore_redactor_new(mode);
	packed->taken = rcore_known_secrets_new();
	packed->target.memory = rcore_recorder_memory(packed->recorder);
	packed->target.recorder = packed->recorder;
	rcore_recorder_add(packed->recorder, packed->start, SIZE);
	rcore_recorder_mark(packed->recorder, RCORE_RECORDED_TEXT, packed->start + STRING,
			    strlen(texts[0].text));
	rcore_recorder_mark(packed->recorder, RCORE_RECORDED_NAME, packed->start + PATH,
			    strlen(texts[2].text));
	packed->output = rcore_output_of_file(rcore_temporary_open(), "the pack");
	ck_assert_int_ge(packed->output.fd, 0);
}

static void teardown(struct packed *packed)
{
	close(packed->output.fd);
	rcore_known_secrets_free(packed->taken);
	rcore_redactor_free(packed->redactor);
	rcore_recorder_free(packed->recorder);
	fake_target_deinit(&packed->fake);
}

static void hide(struct packed *packed)
{
	struct rcore_snapshot snapshot = {0};
	struct rcore_error *err =
		rcore_session_hide(&packed->target, &packed->source, packed->redactor,
				   packed->mode, &snapshot, packed->taken);
	ck_assert_ptr_null(err);
}

static struct rcore_error *search(const struct packed *packed)
{
	return rcore_pack_search(&packed->output, packed->recorder, packed->redactor,
				 packed->taken, packed->mode);
}

/* Returns how often the pack contains the secret. */
static size_t times_left(const struct packed *packed)
{
	static char bytes[8 * SIZE];
	size_t count = 0;
	ssize_t size = pread(packed->output.fd, bytes, sizeof(bytes), 0);
	ck_assert_int_gt(size, 0);
	ck_assert_int_lt(size, (ssize_t)sizeof(bytes));
	for (ssize_t i = 0; i + (ssize_t)strlen(SECRET) <= size; i++)
		count += !memcmp(bytes + i, SECRET, strlen(SECRET));
	return count;
}

START_TEST(hides_what_freed_memory_keeps)
{
	static const enum rcore_redact modes[] = {RCORE_REDACT_SECRETS, RCORE_REDACT_STRINGS,
						  RCORE_REDACT_ALL};
	struct packed packed;
	setup(&packed, modes[_i]);
	hide(&packed);
	write_pack(&packed);
	ck_assert_uint_eq(times_left(&packed), modes[_i] < RCORE_REDACT_ALL);
	ck_assert_ptr_null(search(&packed));
	teardown(&packed);
}
END_TEST

/* As if hiding had missed one: in freed memory, or across two pages. */
START_TEST(finds_what_was_left)
{
	static const size_t missed[] = {STALE, CUT};
	struct packed packed;
	setup(&packed, RCORE_REDACT_SECRETS);
	hide(&packed);
	rcore_recorder_free(packed.recorder);
	packed.recorder = rcore_recorder_new(&packed.fake.memory);
	packed.target.memory = rcore_recorder_memory(packed.recorder);
	rcore_recorder_add(packed.recorder, packed.start + missed[_i], strlen(SECRET));
	write_pack(&packed);
	ck_assert_uint_eq(times_left(&packed), 1);
	struct rcore_error *err = search(&packed);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err->message, "still contained a secret"));
	ck_assert_ptr_null(strstr(err->message, SECRET));
	rcore_error_free(err);
	teardown(&packed);
}
END_TEST

START_TEST(searches_nothing_without_redaction)
{
	struct packed packed;
	setup(&packed, RCORE_REDACT_NONE);
	hide(&packed);
	write_pack(&packed);
	ck_assert_uint_eq(times_left(&packed), 4);
	ck_assert_ptr_null(search(&packed));
	teardown(&packed);
}
END_TEST

/* As if the disk had lost the end of the pack. */
START_TEST(reports_what_cannot_be_read)
{
	struct packed packed;
	setup(&packed, RCORE_REDACT_SECRETS);
	hide(&packed);
	write_pack(&packed);
	ck_assert_int_eq(ftruncate(packed.output.fd, _i ? 2000 : 10), 0);
	struct rcore_error *err = search(&packed);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_OS);
	rcore_error_free(err);
	teardown(&packed);
}
END_TEST

int main(void)
{
	const TTest *const thrice[] = {hides_what_freed_memory_keeps};
	const TTest *const twice[] = {finds_what_was_left, reports_what_cannot_be_read};
	const TTest *const once[] = {searches_nothing_without_redaction};
	const struct rcore_test_suite suites[] = {
		{.name = "pack hides",
		 .tests = thrice,
		 .count = RCORE_COUNT(thrice),
		 .loops = 3},
		{.name = "pack search",
		 .tests = twice,
		 .count = RCORE_COUNT(twice),
		 .loops = 2},
		{.name = "no search", .tests = once, .count = RCORE_COUNT(once)},
	};
	int failed = 0;
	for (size_t i = 0; i < RCORE_COUNT(suites); i++)
		failed |= rcore_test_suite_run(&suites[i]);
	return failed;
}
