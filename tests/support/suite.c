/* SPDX-License-Identifier: MIT */
#include "suite.h"

#include <limits.h>
#include <stdlib.h>

#include "draw.h"

/* LOOPS of the environment; INT_MAX: all */
static int most_loops(void)
{
	const char *given = getenv("LOOPS");
	int most = given ? atoi(given) : 0;
	return most > 0 ? most : INT_MAX;
}

/* Adds a test that runs `count` times, or as often as `most` allows. */
static void add(TCase *tcase, const TTest *test, int count, int most, uint64_t *seed)
{
	if (count <= most) {
		tcase_add_loop_test(tcase, test, 0, count);
		return;
	}
	for (int i = 0; i < most; i++) {
		/* One of each of `most` parts, so that old and new tables are in it. */
		int from = (int)((int64_t)count * i / most);
		int to = (int)((int64_t)count * (i + 1) / most);
		int index = from + (int)random_below(seed, (uint32_t)(to - from));
		tcase_add_loop_test(tcase, test, index, index + 1);
	}
}

int rcore_test_suite_run(const struct rcore_test_suite *wanted)
{
	Suite *suite = suite_create(wanted->name);
	TCase *tcase = tcase_create(wanted->name);
	int most = most_loops();
	uint64_t seed = most < INT_MAX ? random_seed() : 0;
	for (size_t i = 0; i < wanted->count; i++)
		add(tcase, wanted->tests[i], wanted->loops ? wanted->loops : 1, most, &seed);
	for (size_t i = 0; i < wanted->looped_count; i++)
		add(tcase, wanted->looped[i].test, wanted->looped[i].count, most, &seed);
	if (wanted->begin || wanted->end)
		tcase_add_checked_fixture(tcase, wanted->begin, wanted->end);
	if (wanted->timeout > 0)
		tcase_set_timeout(tcase, wanted->timeout);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
