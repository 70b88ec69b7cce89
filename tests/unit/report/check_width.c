/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/count.h"
#include "base/text.h"
#include "suite.h"

/* How text looks on a terminal, and in a shell. */

/* Another release of the C library may have another release of Unicode. */
START_TEST(widths_are_those_of_the_c_library)
{
	enum { MOST_DIFFERENCES = 400 };
	size_t differences = 0;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return;
	for (wchar_t c = 0x20; c <= 0x10ffff; c++) {
		int width = wcwidth(c);
		if (width >= 0 && !rcore_unsafe_character((uint32_t)c) &&
		    (unsigned)width != rcore_character_width((uint32_t)c))
			differences++;
	}
	ck_assert_uint_le(differences, MOST_DIFFERENCES);
	ck_assert_uint_eq(rcore_character_width(0xe9), 1);
	ck_assert_uint_eq(rcore_character_width(0x301), 0);
	ck_assert_uint_eq(rcore_character_width(0x65e5), 2);
	ck_assert_uint_eq(rcore_character_width(0x1f600), 2);
}
END_TEST

static const struct {
	const char *text;
	size_t width;
} texts[] = {{"", 0},        {"plain", 5}, {"caf\u00e9", 4}, {"\u65e5\u672c", 4},
	     {"e\u0301", 1}, {"a\nb", 4},  {"\xe6\x97", 8},  {"back\\slash", 10}};

START_TEST(escaped_texts_have_widths)
{
	ck_assert_uint_eq(rcore_escape_width(texts[_i].text), texts[_i].width);
}
END_TEST

static const struct {
	const char *text, *word;
} words[] = {
	{"plain-1.svg", "plain-1.svg"},
	{"", "''"},
	{"two words", "'two words'"},
	{"it's", "'it'\\''s'"},
	{"$HOME", "'$HOME'"},
	{"\u65e5", "'\u65e5'"},
	{"a\nb'\\", "$'a\\x0Ab\\x27\\x5C'"},
};

START_TEST(words_are_quoted)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	rcore_shell_write(out, words[_i].text);
	fclose(out);
	ck_assert_str_eq(text, words[_i].word);
	free(text);
}
END_TEST

/* Wherever a text is cut, only whole characters remain. */
START_TEST(no_character_is_cut)
{
	static const char text[] = "a\u00e9\u65e5\U0001f600z\u65e5";
	char room[sizeof(text) + 4], cut[sizeof(text)];
	for (size_t size = 0; size <= sizeof(text); size++) {
		rcore_format(room, size + 1, "%s", text);
		ck_assert_msg(rcore_utf8_valid(room), "%zu: %s", size, room);
		ck_assert_uint_le(strlen(room), size);
		size_t kept = rcore_utf8_cut(text, size);
		memcpy(cut, text, kept);
		cut[kept] = '\0';
		ck_assert(kept <= size && rcore_utf8_valid(cut));
		/* Only one character did not fit. */
		ck_assert(!text[kept] || size - kept < 4);
		snprintf(cut, sizeof(cut), "%.*s",
			 (int)(size < sizeof(text) - 1 ? size : sizeof(text) - 1), text);
		rcore_utf8_trim(cut);
		ck_assert_uint_eq(strlen(cut), kept);
	}
	ck_assert_str_eq(rcore_format(room, sizeof(room), "%s", text), text);
	/* Bytes that do not form characters may be cut anywhere. */
	ck_assert_uint_eq(rcore_utf8_cut("\x80\x80\x80\x80\x80\x80\x80", 6), 6);
	ck_assert_uint_eq(rcore_utf8_cut("", 0), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {widths_are_those_of_the_c_library, no_character_is_cut};
	const struct rcore_test_loop loops[] = {
		{escaped_texts_have_widths, RCORE_COUNT(texts)},
		{words_are_quoted, RCORE_COUNT(words)},
	};
	const struct rcore_test_suite suite = {
		.name = "width",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
