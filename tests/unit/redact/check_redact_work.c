/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/count.h"
#include "redact/known_secrets.h"
#include "redact/redact.h"
#include "draw.h"
#include "suite.h"

/*
 * The work grows in proportion to the size of the text, whatever the text is.
 * If it grew with the square, one of these tests would take hours. Each is
 * ended after SECONDS.
 */

enum { TEXT_SIZE = 4 << 20, SECRETS = 150000, DRAWN = 20, SECONDS = 50 };

/* Repeated, each copy of one of these seems to begin an endless secret. */
static const char *const pieces[] = {
	"eyJ.",
	"sk-",
	"SG.",
	"key-",
	"$6$",
	"Basic ",
	"PASSWORD '",
	"identified by \\\"",
	"password \\\\'",
	"-----BEGIN \"",
	"-----BEGIN -",
	"::pin",
	"<pin:",
	"<pin ",
	"pin: {",
	"pin: [",
	"pin: \"",
	"pin: /",
	"[\"pin\", \"",
	"[\"pin\", \\\"",
	"[\"pin\", '",
	"\"pin\",",
	"name=\"pin\"\r\n\r\n",
	"--pin ",
	"pin  ",
	"pin\\\"",
	"pin=!!,",
	"pin: !ruby/",
	"login pin ",
	"%25pin=",
	"Authorization: =\"",
	"cookie: \\",
	"a@",
	"@a.",
	"a://",
	"4 ",
	"4111-",
	"a/",
	"\"",
	"\\",
	":",
	"-",
};

/* The piece that the text repeats. */
static char repeated[128];

static void name_repeated(int signal)
{
	static const char hint[] = " repeated takes too long\n";
	(void)signal;
	if (write(STDERR_FILENO, repeated, strlen(repeated)) < 0 ||
	    write(STDERR_FILENO, hint, sizeof(hint) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void redact_repeated(const char *piece, size_t most)
{
	snprintf(repeated, sizeof(repeated), "%s", piece);
	signal(SIGALRM, name_repeated);
	alarm(SECONDS);
	size_t length = strlen(piece), size = most / length * length;
	char *text = malloc(size);
	ck_assert_ptr_nonnull(text);
	for (size_t at = 0; at < size; at += length)
		memcpy(text + at, piece, length);
	struct rcore_redactor *redactor = rcore_redactor_new(RCORE_REDACT_SECRETS);
	struct rcore_spans spans = {0};
	rcore_redactor_text(redactor, text, size, &spans);
	rcore_spans_settle(&spans);
	ck_assert(!spans.no_memory);
	for (size_t i = 0; i < spans.count; i++)
		ck_assert_uint_le(spans.items[i].end, size);
	rcore_spans_deinit(&spans);
	rcore_redactor_free(redactor);
	free(text);
	alarm(0);
}

/* Each run takes a third of the pieces, or all with VARIANTS=all. */
static size_t first_piece, piece_step = 3;

START_TEST(any_text)
{
	redact_repeated(pieces[first_piece + (size_t)_i * piece_step], TEXT_SIZE);
}
END_TEST

/* Random pieces consist of these, because nobody can think of every case. */
static const char *const atoms[] = {
	"pin",
	"=",
	":",
	" ",
	",",
	"!!",
	"!ruby/",
	"str ",
	"\"",
	"'",
	"\\",
	"{",
	"[",
	"(",
	"<",
	">",
	"/",
	"E",
	"->",
	"name=",
	"login ",
	"%25",
	"--",
	"&",
	"\r\n",
	"Basic",
	"#<",
	"@",
	"PASSWORD",
	"identified by ",
	"Authorization",
	"://",
};

START_TEST(drawn_text)
{
	enum { SIZE = 1 << 20, MOST_ATOMS = 5 };
	char drawn[sizeof(repeated)] = "";
	uint64_t seed = random_seed();
	for (uint32_t left = 2 + random_below(&seed, MOST_ATOMS); left; left--)
		strcat(drawn, atoms[random_below(&seed, RCORE_COUNT(atoms))]);
	redact_repeated(drawn, SIZE);
}
END_TEST

/* Each String of a heap may contain a new secret that resembles the others. */
START_TEST(many_texts)
{
	struct rcore_redactor *redactor = rcore_redactor_new(RCORE_REDACT_SECRETS);
	for (size_t i = 0; i < SECRETS; i++) {
		struct rcore_arena arena = {0};
		char text[96], other[96];
		snprintf(text, sizeof(text), "user=bob password=shop-session-%07zu end", i);
		snprintf(other, sizeof(other), "shop-session-%07zu or else", i / 2);
		const char *first = text, *second = other;
		ck_assert_ptr_null(
			rcore_redact_text(redactor, &arena, RCORE_PART_TEXT, NULL, &first));
		ck_assert_ptr_null(
			rcore_redact_text(redactor, &arena, RCORE_PART_TEXT, NULL, &second));
		ck_assert_str_eq(first, "user=bob password=[redacted] end");
		ck_assert_str_eq(second, "[redacted] or else");
		rcore_arena_deinit(&arena);
	}
	rcore_redactor_free(redactor);
}
END_TEST

int main(void)
{
	const char *variants = getenv("VARIANTS");
	if (variants && !strcmp(variants, "all"))
		piece_step = 1;
	uint64_t seed = random_seed();
	first_piece = random_below(&seed, (uint32_t)piece_step);
	const size_t piece_count =
		(RCORE_COUNT(pieces) - first_piece + piece_step - 1) / piece_step;
	const TTest *const tests[] = {many_texts};
	const struct rcore_test_loop loops[] = {{any_text, (int)piece_count},
						{drawn_text, DRAWN}};
	const struct rcore_test_suite suite = {
		.name = "redact_work",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
