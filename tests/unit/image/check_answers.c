/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "image/elf/answers.h"
#include "suite.h"

/* What one process asked is answered for another one, and nothing else is. */

static struct rcore_answers *answers;
static uint64_t now;

static void end(void)
{
	rcore_answers_free(answers);
	answers = NULL;
}

static void first(void)
{
}

static void second(void)
{
}

static struct rcore_question question(const char *request)
{
	struct rcore_question asked;
	memset(&asked, 0, sizeof(asked));
	asked.device = 7;
	asked.file = 42;
	memcpy(asked.build_id, "build", 5);
	asked.function = first;
	asked.size = strlen(request);
	memcpy(asked.request, request, asked.size);
	return asked;
}

/* Returns the answer; NULL: there is none. */
static const char *find(const struct rcore_question *asked, size_t room)
{
	static char reply[16];
	size_t size = 0;
	memset(reply, 0, sizeof(reply));
	if (!rcore_answers_find(answers, asked, now, reply, room, &size))
		return NULL;
	ck_assert_uint_eq(size, strlen(reply));
	return reply;
}

START_TEST(answers_belong_to_their_questions)
{
	const struct rcore_question asked = question("rb_foo"), empty = question("rb_none");
	answers = rcore_answers_new();
	ck_assert_ptr_nonnull(answers);
	ck_assert_ptr_null(find(&asked, 16));
	rcore_answers_keep(answers, &asked, now, "here", 4);
	rcore_answers_keep(answers, &asked, now, "there", 5);
	rcore_answers_keep(answers, &empty, now, "", 0);
	ck_assert_str_eq(find(&asked, 16), "here");
	ck_assert_str_eq(find(&empty, 16), "");
	/* It does not fit. */
	ck_assert_ptr_null(find(&asked, 3));

	struct rcore_question others[6] = {
		asked, asked, asked, asked, question("rb_foo2"), question("rb_fo")};
	others[0].device++;
	others[1].file++;
	others[2].build_id[63] = 1;
	others[3].function = second;
	for (size_t i = 0; i < RCORE_COUNT(others); i++)
		ck_assert_ptr_null(find(&others[i], 16));
}
END_TEST

START_TEST(answers_stay_few)
{
	answers = rcore_answers_new();
	ck_assert_ptr_nonnull(answers);
	struct rcore_question asked = question("rb_foo");
	for (asked.file = 1; asked.file <= 5000; asked.file++)
		rcore_answers_keep(answers, &asked, now, "here", 4);
	asked.file = 1;
	ck_assert_str_eq(find(&asked, 16), "here");
	asked.file = 5000;
	ck_assert_ptr_null(find(&asked, 16));
}
END_TEST

/* What was not there may have been installed meanwhile. */
START_TEST(answers_are_forgotten)
{
	struct rcore_question asked = question("rb_foo"), other = question("rb_bar");
	answers = rcore_answers_new();
	ck_assert_ptr_nonnull(answers);
	rcore_answers_keep(answers, &asked, now, "", 0);
	now += RCORE_ANSWERS_NS - 1;
	ck_assert_str_eq(find(&asked, 16), "");
	rcore_answers_keep(answers, &other, now, "there", 5);
	now++;
	ck_assert_ptr_null(find(&asked, 16));
	rcore_answers_keep(answers, &asked, now, "here", 4);
	ck_assert_str_eq(find(&asked, 16), "here");
	ck_assert_str_eq(find(&other, 16), "there");
	/* Old answers make room for new ones. */
	for (asked.file = 1; asked.file <= 5000; asked.file++)
		rcore_answers_keep(answers, &asked, now, "here", 4);
	ck_assert_ptr_null(find(&asked, 16));
	now += RCORE_ANSWERS_NS;
	rcore_answers_keep(answers, &asked, now, "new", 3);
	ck_assert_str_eq(find(&asked, 16), "new");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {answers_belong_to_their_questions, answers_stay_few,
				      answers_are_forgotten};
	const struct rcore_test_suite suite = {
		.name = "answers", .tests = tests, .count = RCORE_COUNT(tests), .end = end};
	return rcore_test_suite_run(&suite);
}
