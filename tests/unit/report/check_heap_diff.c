/* SPDX-License-Identifier: MIT */
/* Tests the line of `rcore heap diff` about C memory. */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "report/heap_diff.h"
#include "suite.h"

enum { MIB = 1 << 20 };

static const struct {
	uint64_t bytes[2]; /* 0: unknown */
	const char *expected;
} cases[] = {
	{{MIB, 3 * MIB}, "1.0 MiB, then 3.0 MiB (+2.0 MiB; "},
	{{3 * MIB, MIB}, "3.0 MiB, then 1.0 MiB (-2.0 MiB; "},
	{{MIB, MIB - 100}, "1.0 MiB, then 1.0 MiB (+0.0 MiB; "},
	/* A quarter of a MiB is printed as 0.2. */
	{{209715, MIB / 4}, "0.2 MiB, then 0.2 MiB (+0.0 MiB; "},
	{{0, 3 * MIB}, "unknown, then 3.0 MiB (`rcore heap malloc`"},
	{{3 * MIB, 0}, "3.0 MiB, then unknown (`rcore heap malloc`"},
	{{0, 0}, NULL},
};

START_TEST(c_memory)
{
	struct rcore_diff_sum sums[2] = {{1, cases[_i].bytes[0]}, {1, cases[_i].bytes[1]}};
	struct rcore_heap_diff diff = {.side_count = 2};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (size_t i = 0; i < 2; i++) {
		diff.sides[i].source = "core";
		diff.sides[i].c_memory = cases[_i].bytes[i] ? &sums[i] : NULL;
	}
	ck_assert_ptr_null(rcore_report_heap_diff_text(&diff, NULL, out));
	fclose(out);
	const char *line = strstr(text, "C memory in use: ");
	if (!cases[_i].expected) {
		ck_assert_ptr_null(line);
	} else {
		ck_assert_ptr_nonnull(line);
		line += strlen("C memory in use: ");
		ck_assert_msg(!strncmp(line, cases[_i].expected, strlen(cases[_i].expected)),
			      "%s", line);
	}
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {c_memory};
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = "heap diff",
							       .tests = tests,
							       .count = RCORE_COUNT(tests),
							       .loops = RCORE_COUNT(cases)});
}
