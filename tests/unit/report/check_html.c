/* SPDX-License-Identifier: MIT */
/* Tests reports for browsers: what they contain is what the other writers write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/count.h"
#include "report/formats.h"
#include "report/html/packed.h"
#include "snapshots.h"
#include "suite.h"

typedef struct rcore_error *writer(const struct rcore_snapshot *snapshot,
				   const struct rcore_report_options *options, FILE *out);

/* What a writer writes. */
static char *written(writer *write, const struct rcore_snapshot *snapshot)
{
	static const struct rcore_report_options options;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct rcore_error *err = write(snapshot, &options, out);
	fclose(out);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	return text;
}

static int value_of(char digit)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, digit);
	ck_assert_msg(at && digit, "\"%c\" is not of Base64", digit);
	return (int)(at - digits);
}

/* Returns the bytes, and their number in *ret_size. */
static unsigned char *decoded(const char *text, size_t length, size_t *ret_size)
{
	unsigned char *bytes = malloc(length);
	size_t size = 0;
	ck_assert_uint_eq(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		unsigned group = 0;
		int given = text[i + 2] == '=' ? 1 : text[i + 3] == '=' ? 2 : 3;
		for (int j = 0; j < given + 1; j++)
			group |= (unsigned)value_of(text[i + j]) << (18 - 6 * j);
		for (int j = 0; j < given; j++)
			bytes[size++] = (unsigned char)(group >> (16 - 8 * j));
		ck_assert(given == 3 || i + 4 == length);
	}
	*ret_size = size;
	return bytes;
}

static char *inflated(unsigned char *bytes, size_t size, size_t most)
{
	char *text = calloc(1, most + 1);
	z_stream stream = {.next_in = bytes, .avail_in = (uInt)size};
	ck_assert_int_eq(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	stream.next_out = (unsigned char *)text;
	stream.avail_out = (uInt)most;
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.avail_in, 0);
	inflateEnd(&stream);
	return text;
}

/* Texts of each length, as the last group may have one, two or three bytes. */
START_TEST(packs_any_length)
{
	for (size_t length = 0; length < 300; length++) {
		struct rcore_packed packed;
		char *text = NULL, wanted[300] = "";
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		for (size_t i = 0; i < length; i++)
			wanted[i] = (char)('a' + rand() % 26);
		ck_assert(!rcore_packed_begin(&packed, out));
		fputs(wanted, packed.in);
		ck_assert(!rcore_packed_end(&packed));
		fclose(out);
		unsigned char *bytes = decoded(text, size, &size);
		char *found = inflated(bytes, size, sizeof(wanted));
		ck_assert_str_eq(found, wanted);
		free(found);
		free(bytes);
		free(text);
	}
}
END_TEST

static void (*const makers[])(struct rcore_snapshot *) = {rcore_test_rich, rcore_test_hostile,
							  rcore_test_waits, rcore_test_knowing};

/* Returns a copy of what is between the first `start` and the `end` after it. */
static char *between(const char *text, const char *start, const char *end)
{
	const char *from = strstr(text, start);
	ck_assert_msg(from, "no %s", start);
	from += strlen(start);
	const char *to = strstr(from, end);
	ck_assert_msg(to, "no %s", end);
	return strndup(from, (size_t)(to - from));
}

static void replace(char *text, const char *from, char to)
{
	for (char *at; (at = strstr(text, from));) {
		*at = to;
		memmove(at + 1, at + strlen(from), strlen(at + strlen(from)) + 1);
	}
}

START_TEST(contains_json_and_text)
{
	struct rcore_snapshot snapshot = {0};
	makers[_i](&snapshot);
	char *page = written(rcore_report_html, &snapshot);
	char *json = written(rcore_report_json, &snapshot);
	char *text = written(rcore_report_text, &snapshot);
	char *data = between(page, "<script id=\"data\" type=\"text/plain\">", "</script>");
	char *plain = between(page, "<noscript><pre>", "</pre></noscript>");
	size_t size;
	unsigned char *bytes = decoded(data, strlen(data), &size);
	char *found = inflated(bytes, size, strlen(json) + 1);
	ck_assert_str_eq(found, json);
	ck_assert_ptr_null(strchr(plain, '<'));
	replace(plain, "&lt;", '<');
	replace(plain, "&amp;", '&');
	ck_assert_str_eq(plain, text);
	free(found);
	free(bytes);
	free(plain);
	free(data);
	free(text);
	free(json);
	free(page);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

/* Nothing of the target is in the page but in its data, its text and its title. */
START_TEST(has_no_markup_of_the_target)
{
	struct rcore_snapshot snapshot = {0};
	size_t scripts = 0;
	rcore_test_hostile(&snapshot);
	snapshot.source = "</title><script>alert(1)</script>";
	char *page = written(rcore_report_html, &snapshot);
	for (const char *at = page; (at = strstr(at, "<script")); at++)
		scripts++;
	ck_assert_uint_eq(scripts, 2);
	ck_assert(strstr(page, "<title>rcore: &lt;/title&gt;&lt;script&gt;"));
	free(page);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

/* Nothing is written if the options are wrong. */
START_TEST(refuses_wrong_options)
{
	const struct rcore_report_options options = {.thread = "T99"};
	struct rcore_snapshot snapshot = {0};
	char *text = NULL;
	size_t size = 0;
	rcore_test_rich(&snapshot);
	FILE *out = open_memstream(&text, &size);
	struct rcore_error *err = rcore_report_html(&snapshot, &options, out);
	fclose(out);
	ck_assert(err && err->code == RCORE_ERROR_USAGE);
	ck_assert_uint_eq(size, 0);
	rcore_error_free(err);
	free(text);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {packs_any_length, has_no_markup_of_the_target,
				      refuses_wrong_options};
	const struct rcore_test_loop loops[] = {{contains_json_and_text, RCORE_COUNT(makers)}};
	const struct rcore_test_suite suite = {
		.name = "reports for browsers",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
