/* SPDX-License-Identifier: MIT */
#include "suite.h"

#include <stdlib.h>

int rcore_test_suite_run(const struct rcore_test_suite *wanted)
{
	Suite *suite = suite_create(wanted->name);
	TCase *tcase = tcase_create(wanted->name);
	for (size_t i = 0; i < wanted->count; i++)
		tcase_add_loop_test(tcase, wanted->tests[i], 0,
				    wanted->loops ? wanted->loops : 1);
	for (size_t i = 0; i < wanted->looped_count; i++)
		tcase_add_loop_test(tcase, wanted->looped[i].test, 0, wanted->looped[i].count);
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
