/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "report/heap.h"

/* Names as they may be after damage, and as they are written. */
static const struct {
	const char *name, *written;
} names[] = {
	{"fiber", "fiber"},
	{"Größe", "Größe"},
	{"a\"b\n", "a\\\"b\\n"},
	{"a\xff"
	 "b",
	 "a\\ufffdb"},
	{"\xc3", "\\ufffd"},
	{"ö\x80\x01", "ö\\ufffd\\u0001"},
	{"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
};

START_TEST(names_are_utf8)
{
	char *text = NULL, expected[80];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const struct rcore_heap_line line = {
		.attributes = {{.key = "struct",
				.kind = RCORE_ATTRIBUTE_NAME,
				.text = names[_i].name,
				.length = strlen(names[_i].name)}},
		.attribute_count = 1,
	};
	ck_assert_ptr_null(rcore_report_heap_line(&line, out));
	fclose(out);
	snprintf(expected, sizeof(expected), "\"struct\":\"%s\"", names[_i].written);
	ck_assert_msg(strstr(text, expected), "%s", text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heap_line");
	TCase *lines = tcase_create("lines");
	tcase_add_loop_test(lines, names_are_utf8, 0, RCORE_COUNT(names));
	suite_add_tcase(suite, lines);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
