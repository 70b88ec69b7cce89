/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "report/heap.h"
#include "suite.h"

/* Names, some of them damaged, and what is written for them. */
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
	const struct rcore_test_loop loops[] = {{names_are_utf8, RCORE_COUNT(names)}};
	const struct rcore_test_suite suite = {
		.name = "heap_line",
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
