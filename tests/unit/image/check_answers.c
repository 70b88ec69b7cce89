/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "image/elf/answers.h"
#include "suite.h"

/* What one process asked is answered for another one, and nothing else is. */

static struct rcore_answers *answers;

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
	if (!rcore_answers_find(answers, asked, reply, room, &size))
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
	rcore_answers_keep(answers, &asked, "here", 4);
	rcore_answers_keep(answers, &asked, "there", 5);
	rcore_answers_keep(answers, &empty, "", 0);
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
		rcore_answers_keep(answers, &asked, "here", 4);
	asked.file = 1;
	ck_assert_str_eq(find(&asked, 16), "here");
	asked.file = 5000;
	ck_assert_ptr_null(find(&asked, 16));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {answers_belong_to_their_questions, answers_stay_few};
	const struct rcore_test_suite suite = {
		.name = "answers", .tests = tests, .count = RCORE_COUNT(tests), .end = end};
	return rcore_test_suite_run(&suite);
}
