/* SPDX-License-Identifier: MIT */
/*
 * Tests the text of layout tables: what is read, in which order, and what is
 * refused.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "layout/schema.h"
#include "tables.h"
#include "suite.h"

START_TEST(provenance_is_a_comment)
{
	struct rcore_layout layout = table_of("3.3.8-x86_64");
	char *text = rcore_layout_print(&layout, "one\ntwo\n");

	ck_assert_int_eq(strncmp(text, "# one\n# two\nlayout ", 19), 0);
	struct rcore_error *err = rcore_layout_parse(text, "printed", &layout);
	ck_assert_ptr_null(err);
	free(text);
}
END_TEST

/*
 * The members at the end of rb_iseq_constant_body: each table has those of the
 * compilers that its build had.
 */
START_TEST(size_with_compilers)
{
	static const struct {
		unsigned major, minor, machine, jits;
	} built[] = {
		{3, 2, EM_X86_64, RCORE_BUILT_MJIT}, {3, 2, EM_AARCH64, RCORE_BUILT_MJIT},
		{3, 3, EM_X86_64, RCORE_BUILT_RJIT}, {3, 3, EM_AARCH64, 0},
		{3, 4, EM_X86_64, RCORE_BUILT_RJIT}, {3, 4, EM_AARCH64, 0},
		{4, 0, EM_X86_64, RCORE_BUILT_ZJIT}, {4, 0, EM_AARCH64, 0},
	};
	struct rcore_layout layout;
	size_t tested = 0;

	for (size_t i = 0; rcore_layout_builtin_name(i); i++) {
		ck_assert_ptr_null(rcore_layout_builtin(i, &layout));
		bool has = layout.version[0] > 3 || layout.version[1] >= 2;
		has = has && layout.version[0] >= 3;
		ck_assert_int_eq(rcore_layout_has_jit_members(&layout), has);
		unsigned jits = 0;
		for (size_t k = 0; k < RCORE_COUNT(built); k++)
			if (layout.version[0] == built[k].major &&
			    layout.version[1] == built[k].minor &&
			    layout.machine == built[k].machine) {
				jits = built[k].jits;
				tested++;
			}
		uint32_t size = rcore_layout_iseq_body_size(&layout, jits);
		bool is_measured = rcore_has_place(&layout.iseq_body.mandatory_only_iseq);
		ck_assert_msg(size == (has && !is_measured ? 0 : layout.iseq_body.size), "%s",
			      layout.name);
	}
	ck_assert_uint_gt(tested, RCORE_COUNT(built));
}
END_TEST

START_TEST(versions)
{
	static const char *const bad[] = {"",       "3",       "3.3",       "3.3.",   "3.3.8 ",
					  "3.3.x",  "3.3.8.1", "-3.3.8",    " 3.3.8", "3..8",
					  "3.3.+8", "v3.3.8",  "3.3.99999", "3.3.8\n"};
	unsigned version[3] = {1, 2, 3};

	for (size_t i = 0; i < RCORE_COUNT(bad); i++)
		ck_assert_msg(!rcore_version_parse(bad[i], version), "'%s'", bad[i]);
	ck_assert_uint_eq(version[0], 1);
	ck_assert(rcore_version_parse("3.10.11", version));
	ck_assert(version[0] == 3 && version[1] == 10 && version[2] == 11);
}
END_TEST

START_TEST(ranges)
{
	static const char *const bad[] = {"",
					  "3.3",
					  "..",
					  "3.3.1..",
					  "..3.3.1",
					  "3.3.1..3.3.0",
					  "3.3.1..3.4.6",
					  "3.3.1..4.3.6",
					  "3.3.1...3.3.6",
					  "3.3.1..3.3.6-cet",
					  "3.3.1..3.3.6..",
					  "3.3.1..6"};
	unsigned version[3] = {1, 2, 3}, last = 4;

	for (size_t i = 0; i < RCORE_COUNT(bad); i++)
		ck_assert_msg(!rcore_version_range_parse(bad[i], version, &last), "'%s'",
			      bad[i]);
	ck_assert(version[0] == 1 && last == 4);
	ck_assert(rcore_version_range_parse("3.3.9..3.3.11", version, &last));
	ck_assert(version[0] == 3 && version[1] == 3 && version[2] == 9 && last == 11);
	ck_assert(rcore_version_range_parse("2.7.8", version, &last));
	ck_assert(version[0] == 2 && version[2] == 8 && last == 8);

	struct rcore_layout layout = table_of("3.3.8-x86_64-cet");
	layout.version[2] = 7;
	layout.last_patch = 11;
	rcore_layout_set_table_name(&layout);
	ck_assert_str_eq(layout.name, "3.3.7..3.3.11-x86_64-cet");
	char *text = rcore_layout_print(&layout, NULL);
	struct rcore_layout again;
	ck_assert_ptr_null(rcore_layout_parse(text, "t", &again));
	ck_assert_str_eq(again.name, layout.name);
	ck_assert(again.version[2] == 7 && again.last_patch == 11);
	free(text);
}
END_TEST

/* Returns the table of 3.3.8 with the line that starts with `line` replaced. */
static char *altered(const char *line, const char *with)
{
	char needle[64], *result, *text = table_printed(table_of("3.3.8-x86_64"));

	snprintf(needle, sizeof(needle), "\n%s", line);
	const char *at = *line ? strstr(text, needle) + 1 : text;
	const char *rest = *line ? strchr(at, '\n') + 1 : text;
	ck_assert_int_gt(asprintf(&result, "%.*s%s%s", (int)(at - text), text, with, rest), 0);
	free(text);
	return result;
}

START_TEST(bad_tables)
{
	static const struct {
		const char *line, *with, *message;
	} cases[] = {
		{"", "nonsense\n", "t:1: 'nonsense' does not start a line of a layout table"},
		{"", "vm\x1b[2J.x 1 2\n", "t:1: unknown field 'vm?[2J.x'"},
		{"", "layout x\n", "t:2: a second 'layout' line"},
		{"", "a b c d e f\n", "t:1: more than 5 words"},
		{"ruby ", "", "the table has no line 'ruby X.Y.Z'"},
		{"ruby ", "ruby 3.3\n",
		 "t:2: '3.3' is neither a version such as 3.3.0 nor a range such as"},
		{"ruby ", "ruby 3.3.8..3.4.0\n", "t:2: '3.3.8..3.4.0' is neither"},
		{"ruby ", "ruby 3.3.8 ..3.3.9\n", "t:2: 'ruby' does not start a line"},
		{"machine ", "machine vax\n", "t:3: machine 'vax' is not x86_64 or aarch64"},
		{"struct vm", "struct vm 0\n", "t:5: '0' is not a number from 1 to 16777216"},
		{"struct vm", "struct wm 9600\n", "t:5: unknown struct 'wm'"},
		{"struct vm", "struct vm 9600 4.0\n", "'4.0' is not a version such as 4.0.5"},
		{"struct vm", "struct vm -\n", "is past the end of struct vm (0 bytes)"},
		{"struct vm", "struct vm ? 3.3.7\n", "t:5: '?' is not a number"},
		{"struct array", "", "is past the end of struct array (0 bytes)"},
		{"vm.ractor_set", "vm.ractor_set ? 8\n", "t:6: '?' is not a number"},
		{"vm.ractor_set", "vm.ractor_set ?\nvm.ractor_set 8 16\n",
		 "t:7: the same item as line 6"},
		{"vm.ractor_set", "vm.set 8 16\n", "t:6: unknown field 'vm.set'"},
		{"vm.ractor_set", "vm.ractor_set\n",
		 "t:6: 'vm.ractor_set' does not start a line"},
		{"vm.ractor_set", "vm.ractor_set 8\n",
		 "t:6: expected 'vm.ractor_set OFFSET SIZE [BIT:BITS]', '-' or '?'"},
		{"vm.ractor_set", "vm.ractor_set 8 x\n", "t:6: 'x' is not a number"},
		{"vm.ractor_set", "vm.ractor_set -8 16\n", "t:6: '-8' is not a number from 0"},
		{"vm.ractor_set", "vm.ractor_set 8 99999\n", "t:6: '99999' is not a number"},
		{"vm.ractor_set", "vm.ractor_set 99999999999999999999 8\n", "t:6: '9999"},
		{"vm.ractor_set", "vm.ractor_set 9596 8\n",
		 "t:6: vm.ractor_set is past the end of struct vm (9600 bytes)"},
		{"vm.ractor_count", "vm.ractor_set 8 16\n", "t:7: the same item as line 6"},
		{"thread.status", "thread.status 240 4 9:2\n",
		 "'9' is not a number from 0 to 7"},
		{"thread.status", "thread.status 240 4 2\n", "'2' is not BIT:BITS"},
		{"enum qnil", "enum qnil four\n", "'four' is not a number"},
		{"enum qnil", "enum nil 4\n", "unknown enumerator 'nil'"},
	};

	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		struct rcore_layout layout = {.name = "untouched"};
		char *text = altered(cases[i].line, cases[i].with);
		struct rcore_error *err = rcore_layout_parse(text, "t", &layout);
		ck_assert_msg(err != NULL, "taken: %s", cases[i].with);
		ck_assert_int_eq(err->code, RCORE_ERROR_FORMAT);
		ck_assert_msg(strstr(err->message, cases[i].message), "%s", err->message);
		ck_assert_str_eq(layout.name, "untouched");
		rcore_error_free(err);
		free(text);
	}
}
END_TEST

START_TEST(long_line)
{
	char line[4096];
	memset(line, 'x', sizeof(line) - 2);
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	char *text = altered("", line);
	struct rcore_layout layout;
	struct rcore_error *err = rcore_layout_parse(text, "t", &layout);
	ck_assert_ptr_nonnull(strstr(err->message, "t:1: a line longer than 511 characters"));
	rcore_error_free(err);
	free(text);
}
END_TEST

/*
 * A truncated table is an error, or ends after an item; missing items are
 * unmeasured.
 */
START_TEST(cut_off)
{
	char *text = altered("", "");
	size_t length = strlen(text);

	for (size_t i = 0; i < length - 2; i++) {
		char *cut = strndup(text, i);
		struct rcore_layout layout;
		struct rcore_error *err = rcore_layout_parse(cut, "t", &layout);
		if (!err && i < length - 8)
			ck_assert_uint_gt(rcore_layout_unmeasured(&layout, NULL, NULL), 0);
		rcore_error_free(err);
		free(cut);
	}
	free(text);
}
END_TEST

/* Returns the lines of `text` from line `from` on, and then those before it. */
static char *turned(const char *text, int from)
{
	char *result;
	const char *at = text;
	for (int i = 0; i < from; i++)
		at = strchr(at, '\n') + 1;
	ck_assert_int_gt(asprintf(&result, "%s%.*s", at, (int)(at - text), text), 0);
	return result;
}

/* In reverse order. */
static char *reversed(const char *text)
{
	size_t length = strlen(text), at = 0;
	char *result = calloc(1, length + 1);
	while (length) {
		size_t start = length - 1;
		while (start && text[start - 1] != '\n')
			start--;
		memcpy(result + at, text + start, length - start);
		at += length - start;
		length = start;
	}
	return result;
}

/* Lines may be added anywhere, so measuring a field rewrites no line. */
START_TEST(any_order)
{
	struct rcore_layout layout = table_at(_i), again;
	char *text = table_printed(layout);
	for (int from = 0; from <= 300; from += 50) {
		char *other = from < 300 ? turned(text, from) : reversed(text);
		ck_assert_ptr_null(rcore_layout_parse(other, "t", &again));
		char *same = table_printed(again);
		ck_assert_str_eq(same, text);
		free(same);
		free(other);
	}
	free(text);
}
END_TEST

static void append(void *context, const char *item)
{
	strcat(strcat(context, item), " ");
}

static char *without(const char *text, const char *line)
{
	const char *at = strstr(text, line);
	char *result;
	ck_assert_int_gt(asprintf(&result, "%.*s%s", (int)(at - text) + 1, text,
				  strchr(at + 1, '\n') + 1),
			 0);
	return result;
}

/*
 * Any field and enumerator can be missing. It is then unmeasured, not absent,
 * and everything else is unchanged.
 */
START_TEST(unmeasured)
{
	struct rcore_layout whole = table_of("3.3.8-x86_64");
	size_t before = rcore_layout_unmeasured(&whole, NULL, NULL);
	char *text = table_printed(whole);
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		char name[RCORE_ITEM_TEXT], line[RCORE_ITEM_TEXT + 2], list[4096] = "";
		struct rcore_layout layout;
		rcore_item_print(item, name);
		if (item->kind == RCORE_ITEM_STRUCT || !rcore_item_is_measured(&whole, item))
			continue;
		snprintf(line, sizeof(line), "\n%s ", name);
		char *less = without(text, line);
		ck_assert_ptr_null(rcore_layout_parse(less, "t", &layout));
		ck_assert(!rcore_item_is_measured(&layout, item));
		ck_assert_uint_eq(rcore_layout_unmeasured(&layout, append, list), before + 1);
		ck_assert_ptr_nonnull(strstr(list, name));
		char *again = table_printed(layout);
		ck_assert_str_eq(again, less);
		free(again);
		if (item->kind == RCORE_ITEM_FIELD) {
			ck_assert(!rcore_has_place(rcore_item_field(&layout, item)));
			ck_assert(rcore_has(rcore_item_field(&layout, item)));
			*rcore_item_field(&layout, item) = *rcore_item_field(&whole, item);
		} else {
			*rcore_item_constant(&layout, item) =
				*rcore_item_constant(&whole, item);
		}
		again = table_printed(layout);
		ck_assert_str_eq(again, text);
		free(again);
		free(less);
	}
	free(text);
}
END_TEST

/*
 * A struct that is new in fields.def is unmeasured with all its fields, and is
 * reported instead of them.
 */
START_TEST(unmeasured_struct)
{
	struct rcore_layout whole = table_of("3.3.8-x86_64"), layout;
	size_t before = rcore_layout_unmeasured(&whole, NULL, NULL);
	char list[4096] = "", *text = table_printed(whole);
	char *from = strstr(text, "\nstruct symbols "), *to = strstr(from + 2, "\nstruct ");
	memmove(from, to, strlen(to) + 1);
	ck_assert_ptr_null(rcore_layout_parse(text, "t", &layout));
	ck_assert_uint_eq(rcore_layout_unmeasured(&layout, append, list), before + 3);
	ck_assert_ptr_nonnull(strstr(list, "struct symbols "));
	ck_assert_ptr_null(strstr(list, "symbols.ids"));
	ck_assert(layout.symbols.is_unmeasured && !layout.symbols.size);
	char *again = table_printed(layout);
	ck_assert_str_eq(again, text);
	free(again);
	free(text);
}
END_TEST

/*
 * A packed table is read over the first one of its series. It has all items of
 * that table unless '?' says that one is not measured.
 */
START_TEST(unmeasured_over)
{
	static const char head[] = "layout a\nruby 3.3.8\n";
	static const char unknown[] = "layout a\nruby 3.3.8\nstruct symbols ?\nsymbols.ids ?\n"
				      "symbols.last_id ?\nenum qnil ?\n";
	struct rcore_layout whole = table_of("3.3.8-x86_64"), layout;
	size_t before = rcore_layout_unmeasured(&whole, NULL, NULL);
	char list[4096] = "";
	ck_assert_ptr_null(rcore_layout_parse_over(&whole, head, "t", &layout));
	ck_assert_uint_eq(rcore_layout_unmeasured(&layout, NULL, NULL), before);
	ck_assert_ptr_null(rcore_layout_parse_over(&whole, unknown, "t", &layout));
	ck_assert_uint_eq(rcore_layout_unmeasured(&layout, append, list), before + 4);
	ck_assert_ptr_nonnull(strstr(list, "struct symbols "));
	ck_assert_ptr_nonnull(strstr(list, "enum qnil "));
}
END_TEST

START_TEST(no_struct_of_the_vm)
{
	static const char *const structs[] = {"vm", "thread", "ec"};
	for (size_t i = 0; i < RCORE_COUNT(structs); i++) {
		struct rcore_layout layout;
		char start[32], message[64], *text = table_printed(table_of("3.3.8-x86_64"));
		snprintf(start, sizeof(start), "\nstruct %s ", structs[i]);
		snprintf(message, sizeof(message), "the table has no struct %s", structs[i]);
		char *from = strstr(text, start), *to = strstr(from + 2, "\nstruct ");
		memmove(from, to, strlen(to) + 1);
		struct rcore_error *err = rcore_layout_parse(text, "t", &layout);
		ck_assert_ptr_nonnull(strstr(err->message, message));
		rcore_error_free(err);
		free(text);
	}
}
END_TEST

int main(void)
{
	int count = table_count();
	const TTest *const tests[] = {provenance_is_a_comment,
				      versions,
				      size_with_compilers,
				      ranges,
				      bad_tables,
				      long_line,
				      cut_off,
				      unmeasured,
				      unmeasured_struct,
				      unmeasured_over,
				      no_struct_of_the_vm};
	const struct rcore_test_loop loops[] = {{any_order, count}};
	const struct rcore_test_suite suite = {
		.name = "layout_table",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
