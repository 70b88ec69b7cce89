/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "image/symbolize/demangle.h"

static const struct {
	const char *symbol, *name;
} names[] = {
	{"_ZN4Pool4growEi", "Pool::grow(int)"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi",
	 "std::vector<int, std::allocator<int> >::push_back(int&&)"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"rb_vm_exec", NULL},
	{"_start", NULL},
	{"_ZN4Pool", NULL},
	{"_Z", NULL},
	{"_", NULL},
	{"", NULL},
	{NULL, NULL},
};

START_TEST(known)
{
	char *name = rcore_demangle(names[_i].symbol);
	ck_assert_pstr_eq(name, names[_i].name);
	free(name);
}
END_TEST

/* A name with endless nesting. */
START_TEST(hostile)
{
	enum { SIZE = 200000 };
	char *symbol = malloc(SIZE + 1);
	memset(symbol, 'P', SIZE);
	memcpy(symbol, "_Z1f", 4);
	symbol[SIZE] = 0;
	free(rcore_demangle(symbol));
	for (size_t i = 2; i < SIZE; i += 2)
		memcpy(symbol + i, i % 4 ? "N1" : "I1", 2);
	free(rcore_demangle(symbol));
	free(symbol);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("demangle");
	tcase_add_loop_test(tests, known, 0, RCORE_COUNT(names));
	tcase_add_test(tests, hostile);
	Suite *suite = suite_create("demangle");
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
