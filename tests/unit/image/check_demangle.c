/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "image/symbolize/demangle.h"
#include "suite.h"

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
	const TTest *const tests[] = {hostile};
	const struct rcore_test_loop loops[] = {{known, RCORE_COUNT(names)}};
	const struct rcore_test_suite suite = {
		.name = "demangle",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
