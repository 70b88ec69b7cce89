/* SPDX-License-Identifier: MIT */

#include "base/count.h"
#include "model/ids_number.h"
#include "suite.h"

static size_t number(struct rcore_ids *ids, const char *scope, uint64_t address,
		     uint64_t object, int age)
{
	const struct rcore_who who = {scope, address, object, age};
	size_t ret = 0;
	ck_assert(rcore_ids_number(ids, &who, &ret));
	return ret;
}

START_TEST(ids_stay)
{
	struct rcore_ids *ids = rcore_ids_open();
	ck_assert_uint_eq(number(ids, "T", 0x1000, 0, 0), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 8, 0), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x2000, 16, 1), 2);
	ck_assert_uint_eq(number(ids, "T2", 0x3000, 24, 0), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x2000, 16, 1), 2);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 8, 2), 1);
	rcore_ids_close(ids);
	rcore_ids_close(NULL);
}
END_TEST

/*
 * If a fiber gets its object later, or the object could not be read once, it is
 * still the same fiber.
 */
START_TEST(ids_of_late_objects)
{
	struct rcore_ids *ids = rcore_ids_open();
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 0, 0), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 8, 0), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 0, 0), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 16, 0), 2);
	rcore_ids_close(ids);
}
END_TEST

START_TEST(ids_are_not_used_again)
{
	struct rcore_ids *ids = rcore_ids_open();
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 8, 2), 1);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 8, 0), 2);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 16, 0), 3);
	ck_assert_uint_eq(number(ids, "T1", 0x1000, 16, 1), 3);
	rcore_ids_close(ids);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {ids_stay, ids_of_late_objects, ids_are_not_used_again};
	const struct rcore_test_suite suite = {
		.name = "ids",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
