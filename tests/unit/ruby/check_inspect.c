/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "ruby/object/hash.h"
#include "ruby/inspect/inspect.h"
#include "ruby/inspect/printed.h"
#include "ruby_suite.h"

/* the longest possible text: the limit, and what closes brackets */
enum { LONGEST_TEXT = 1 << 21 };

static struct rcore_value inspected(uint64_t value, const struct rcore_inspect_options *options)
{
	struct rcore_value result = {0};
	OK(rcore_inspect(&ruby, value, options, &result));
	ck_assert_ptr_nonnull(result.text);
	ck_assert_uint_eq(result.value, value);
	return result;
}

static void shows(uint64_t value, const char *expected)
{
	struct rcore_value result = inspected(value, NULL);
	ck_assert_msg(!strcmp(result.text, expected) && !result.problem, "%s: %s: %s", expected,
		      result.text, result.problem);
}

/* Expects the value with a problem. */
static void shows_bad(uint64_t value, const char *expected, const char *problem)
{
	struct rcore_value result = inspected(value, NULL);
	ck_assert_str_eq(result.text, expected);
	ck_assert_ptr_nonnull(result.problem);
	ck_assert_msg(strstr(result.problem, problem), "%s", result.problem);
}

static void shows_with(uint64_t value, unsigned depth, unsigned max_string, unsigned max_items,
		       const char *expected)
{
	const struct rcore_inspect_options options = {depth, max_string, max_items, 0};
	ck_assert_str_eq(inspected(value, &options).text, expected);
}

static uint64_t nil(void)
{
	return (uint64_t)fake.layout.constant.qnil;
}

/* A String in an encoding, by its index. */
static uint64_t string(const char *bytes, size_t length, uint64_t encoding)
{
	uint64_t flags, value = fake_string_embedded(&fake, bytes, length);
	ck_assert_int_eq(rcore_read_u64(&fake.target.memory, value, &flags), RCORE_FAULT_NONE);
	fake_put(&fake.target, value, flags | encoding << 22);
	return value;
}

#define UTF_8(text)  string(text, sizeof(text) - 1, 1)
#define BINARY(text) string(text, sizeof(text) - 1, 0)
#define ARRAY(...)                                              \
	fake_array_heap(&fake, (const uint64_t[]){__VA_ARGS__}, \
			RCORE_COUNT(((const uint64_t[]){__VA_ARGS__})))

START_TEST(test_immediates)
{
	begin(_i);
	shows(0, "false");
	shows(nil(), "nil");
	shows(0x14, "true");
	shows((uint64_t)fake.layout.constant.qundef, "<undef>");
	shows(FAKE_FIXNUM(0), "0");
	shows(FAKE_FIXNUM(-1), "-1");
	shows(0x7fffffffffffffff, "4611686018427387903");
	shows(0x8000000000000001, "-4611686018427387904");
	shows(0x8000000000000002, "0.0");
	shows(0xff80000000000002, "1.0");
	shows(0xffc0000000000006, "-1.5");
	shows(fake_symbol(&fake, "name"), ":name");
	shows_bad(0x123456780c, "<unreadable 0x123456780c>", "no symbol");
	ck_assert_str_eq(inspected(FAKE_FIXNUM(1), NULL).class_name, "Integer");
	ck_assert_str_eq(inspected(0x30c, NULL).class_name, "Symbol");
}
END_TEST

START_TEST(test_floats)
{
	begin(_i);
	static const struct {
		double number;
		const char *text;
	} floats[] = {
		{1e14, "100000000000000.0"},
		{1e15, "1.0e+15"},
		{1e16, "1.0e+16"},
		{123456789012345.6, "123456789012345.6"},
		{9999999999999998.0, "9.999999999999998e+15"},
		{0.0001, "0.0001"},
		{0.00001, "1.0e-05"},
		{1e100, "1.0e+100"},
		{5e-324, "5.0e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{0x1p-44, "5.684341886080802e-14"},
		{0x1p70, "1.1805916207174113e+21"},
		{-0.0, "-0.0"},
		{1.0 / 3, "0.3333333333333333"},
		{100.0, "100.0"},
	};
	for (size_t i = 0; i < RCORE_COUNT(floats); i++)
		shows(fake_float(&fake, floats[i].number), floats[i].text);
	shows(fake_float(&fake, __builtin_inf()), "Infinity");
	shows(fake_float(&fake, -__builtin_inf()), "-Infinity");
	shows(fake_float(&fake, __builtin_nan("")), "NaN");
}
END_TEST

START_TEST(test_strings)
{
	begin(_i);
	shows(UTF_8(""), "\"\"");
	shows(UTF_8("a\"b\\c#{d} #$e #@f # g"), "\"a\\\"b\\\\c\\#{d} \\#$e \\#@f # g\"");
	shows(UTF_8("\n\t\r\f\v\b\a\x1b\x7f"), "\"\\n\\t\\r\\f\\v\\b\\a\\e\\u007F\"");
	shows(UTF_8("h\xc3\xa9 \xe3\x81\x82"), "\"h\xc3\xa9 \xe3\x81\x82\"");
	shows(UTF_8("\xff\xe3\x81"), "\"\\xFF\\xE3\\x81\"");
	shows(UTF_8("\xe2\x80\xa8"), "\"\\u2028\"");
	shows(BINARY("\xc3\xa9\0"), "\"\\xC3\\xA9\\x00\"");
	shows(string("\xc3", 1, 2), "\"\\xC3\"");
	shows(string("a\0B0\"\0", 6, 4), "\"a\\u3042\\\"\"");
	shows(string("\0a\xd8=\xde\0", 6, 3), "\"a\\u{1F600}\"");
	shows(string("\0\xd8", 2, 4), "\"\\x00\\xD8\"");
	shows(string("\0\0\0a\0\0\x30", 7, 5), "\"a\\x00\\x00\\x30\"");
	shows(string("a\xa4\xa2\xa4", 4, 10), "\"a\\x{A4A2}\\xA4\"");
	shows(string("\x82\xa0\xb1\x82", 4, 11), "\"\\x{82A0}\\xB1\\x82\"");
	shows(string("\xc3\xa9", 2, 9), "\"\\u00E9\"");
	/* An encoding that no table names. */
	shows(string("a\xa4\xa2", 3, 50), "\"a\\xA4\\xA2\"");
}
END_TEST

START_TEST(test_cut_strings)
{
	begin(_i);
	shows_with(UTF_8("abcdef"), 0, 4, 0, "\"abcd\"... (2 more bytes)");
	shows_with(UTF_8("abc\xe3\x81\x82"), 0, 4, 0, "\"abc\"... (2 more bytes)");
	shows_with(UTF_8("abc\xff\xff\xff\xff\xff"), 0, 7, 0, "\"abc\\xFF\"... (1 more byte)");
	uint64_t huge = fake_string_heap(&fake, "0123456789", 10);
	fake_put_field(&fake.target, huge, &fake.layout.string.len, UINT64_C(1) << 60);
	const struct rcore_inspect_options options = {.max_string = 8};
	ck_assert_str_eq(inspected(huge, &options).text,
			 "\"01234567\"... (1152921504606846968 more bytes)");
	/* The default goes beyond the mapped memory. */
	struct rcore_value result = inspected(huge, NULL);
	ck_assert_ptr_nonnull(strstr(result.text, "<unreadable 0x"));
	ck_assert_ptr_nonnull(result.problem);
}
END_TEST

START_TEST(test_symbols)
{
	begin(_i);
	static const char *const plain[] = {"a",   "a?",  "a!", "A",  "a=", "[]", "[]=",
					    "<=>", "!",   "!=", "+@", "@a", "$a", "@@a",
					    "$1",  "$-w", "_1", "$~", "`",  "==="};
	static const char *const quoted[] = {"a b", "1a", "a-b", "&&",  "=",   "@",   "@1",
					     "$",   "$-", "a?=", "@a=", "$a?", "[]?", "a?b"};
	char expected[64];
	for (size_t i = 0; i < RCORE_COUNT(plain); i++) {
		snprintf(expected, sizeof(expected), ":%s", plain[i]);
		shows(fake_symbol(&fake, plain[i]), expected);
	}
	for (size_t i = 0; i < RCORE_COUNT(quoted); i++) {
		snprintf(expected, sizeof(expected), ":\"%s\"", quoted[i]);
		shows(fake_symbol(&fake, quoted[i]), expected);
	}
}
END_TEST

START_TEST(test_arrays)
{
	begin(_i);
	uint64_t inner = ARRAY(FAKE_FIXNUM(2), UTF_8("x"));
	uint64_t array = ARRAY(FAKE_FIXNUM(1), inner, nil());
	shows(fake_array_heap(&fake, NULL, 0), "[]");
	shows(fake_array_embedded(&fake, (const uint64_t[]){0x14}, 1), "[true]");
	shows(array, "[1, [2, \"x\"], nil]");
	shows_with(array, 1, 0, 0, "[1, [... (2 more)], nil]");
	shows_with(array, 0, 0, 2, "[1, [2, \"x\"], ... (1 more)]");
	uint64_t heap;
	rcore_read_field(&fake.target.memory, array, &fake.layout.array.heap_ptr, &heap);
	fake_put(&fake.target, heap + 16, array);
	fake_put(&fake.target, heap, 0x10);
	shows_bad(array, "[<unreadable 0x10>, [2, \"x\"], [...]]", "0x10");
	fake_put_field(&fake.target, array, &fake.layout.array.heap_len, 1 << 20);
	struct rcore_value cut = inspected(array, NULL);
	ck_assert_ptr_nonnull(strstr(cut.text, "<unreadable>]"));
	ck_assert_ptr_nonnull(cut.problem);
}
END_TEST

/*
 * No item begins after the limit of bytes. Each container says what it left
 * out.
 */
START_TEST(test_max_text)
{
	begin(_i);
	uint64_t one = FAKE_FIXNUM(1), inner = ARRAY(one, one, one, one);
	uint64_t list = ARRAY(inner, inner, one);
	const struct rcore_inspect_options few = {.max_text = 3}, most = {.max_text = 27},
					   all = {.max_text = 28};
	ck_assert_str_eq(inspected(list, &few).text, "[[1, ... (3 more)], ... (2 more)]");
	ck_assert_str_eq(inspected(list, &most).text,
			 "[[1, 1, 1, 1], [1, 1, 1, 1], ... (1 more)]");
	struct rcore_value result = inspected(list, &all);
	ck_assert_str_eq(result.text, "[[1, 1, 1, 1], [1, 1, 1, 1], 1]");
	ck_assert_ptr_null(result.problem);
}
END_TEST

/* Nested lists, wider than any text may be. */
START_TEST(test_limits)
{
	begin(_i);
	uint64_t list = FAKE_FIXNUM(1234567), elements[100];
	for (int depth = 0; depth < 6; depth++) {
		for (size_t i = 0; i < 100; i++)
			elements[i] = list;
		list = fake_array_heap(&fake, elements, 100);
	}
	const struct rcore_inspect_options deep = {.depth = 100};
	struct rcore_value result = inspected(list, &deep);
	ck_assert_uint_gt(strlen(result.text), 1 << 20);
	ck_assert_uint_lt(strlen(result.text), LONGEST_TEXT);
	ck_assert_ptr_nonnull(strstr(result.problem, "truncated"));
	/* Nested deeper than is followed. */
	list = FAKE_FIXNUM(1);
	for (int depth = 0; depth < 2000; depth++)
		list = ARRAY(list);
	const struct rcore_inspect_options deeper = {.depth = 100000};
	result = inspected(list, &deeper);
	ck_assert_ptr_nonnull(strstr(result.problem, "nested values"));
}
END_TEST

static bool colons(void)
{
	return fake.layout.traits.hash_with_colons;
}

START_TEST(test_hashes)
{
	begin(_i);
	struct fake_pair pairs[20] = {
		{fake_symbol(&fake, "a"), FAKE_FIXNUM(1)},
		{UTF_8("b"), nil()},
		{fake_symbol(&fake, "c d"), ARRAY(0x14)},
	};
	const char *whole = colons() ? "{a: 1, \"b\" => nil, \"c d\": [true]}"
				     : "{:a=>1, \"b\"=>nil, :\"c d\"=>[true]}";
	const char *rest = colons() ? "{\"c d\": [true]}" : "{:\"c d\"=>[true]}";
	const char *cut = colons() ? "{a: 1, ... (2 more)}" : "{:a=>1, ... (2 more)}";
	shows(fake_hash_ar(&fake, pairs, 0, 0), "{}");
	uint64_t small = fake_hash_ar(&fake, pairs, 3, 0);
	uint64_t large = fake_hash_st(&fake, pairs, 3, 0);
	shows(small, whole);
	shows(large, whole);
	shows(fake_hash_ar(&fake, pairs, 3, 2), rest);
	shows(fake_hash_st(&fake, pairs, 3, 2), rest);
	shows_with(small, 0, 0, 1, cut);
	shows_with(large, 0, 0, 1, cut);
	pairs[0] = (struct fake_pair){fake_symbol(&fake, "="), small};
	shows_with(fake_hash_ar(&fake, pairs, 1, 0), 1, 0, 0,
		   colons() ? "{\"=\": {... (3 more)}}" : "{:\"=\"=>{... (3 more)}}");
	for (int i = 0; i < 20; i++)
		pairs[i] = (struct fake_pair){FAKE_FIXNUM(i), FAKE_FIXNUM(-i)};
	shows_with(fake_hash_st(&fake, pairs, 20, 17), 0, 0, 0,
		   colons() ? "{17 => -17, 18 => -18, 19 => -19}"
			    : "{17=>-17, 18=>-18, 19=>-19}");
}
END_TEST

START_TEST(test_bad_hashes)
{
	begin(_i);
	const struct fake_pair pairs[] = {{FAKE_FIXNUM(1), FAKE_FIXNUM(2)}};
	struct rcore_hash_iterator iterator;
	uint64_t flags, hash = fake_hash_ar(&fake, pairs, 1, 0);
	ck_assert_int_eq(code(rcore_hash_begin(&iterator, &ruby, UTF_8("x"))),
			 RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(code(rcore_hash_begin(&iterator, &ruby, 0x10000)), RCORE_ERROR_FAULT);
	rcore_read_u64(&fake.target.memory, hash, &flags);
	fake_put(&fake.target, hash, flags | UINT64_C(0xf) << 16); /* 15 pairs in one place */
	ck_assert_int_eq(code(rcore_hash_begin(&iterator, &ruby, hash)), RCORE_ERROR_CORRUPT);
	hash = fake_hash_st(&fake, pairs, 1, 0);
	uint64_t table = hash + fake.layout.hash.size;
	if (rcore_has(&fake.layout.hash.table))
		rcore_read_field(&fake.target.memory, hash, &fake.layout.hash.table, &table);
	fake_put_field(&fake.target, table, &fake.layout.st_table.num_entries, 1 << 30);
	ck_assert_int_eq(code(rcore_hash_begin(&iterator, &ruby, hash)), RCORE_ERROR_CORRUPT);
}
END_TEST

START_TEST(test_numbers)
{
	begin(_i);
	static const uint32_t digits[] = {0, 0, 1}, large[5000] = {1, [4999] = 1};
	shows(fake_bignum(&fake, digits, 3, false, true), "18446744073709551616");
	shows(fake_bignum(&fake, digits, 3, true, false), "-18446744073709551616");
	shows(fake_bignum(&fake, digits, 0, false, true), "0");
	shows_bad(fake_bignum(&fake, large, 5000, false, false), "<Integer of 160000 bits>",
		  "5000 words");
	uint64_t third = fake_rational(&fake, FAKE_FIXNUM(-1), FAKE_FIXNUM(3));
	shows(third, "(-1/3)");
	shows(fake_complex(&fake, FAKE_FIXNUM(1), FAKE_FIXNUM(-2)), "(1-2i)");
	shows(fake_complex(&fake, third, FAKE_FIXNUM(2)), "((-1/3)+2i)");
	shows(fake_complex(&fake, FAKE_FIXNUM(1), third), "(1-(1/3)*i)");
	shows(fake_complex(&fake, FAKE_FIXNUM(1), fake_float(&fake, __builtin_inf())),
	      "(1+Infinity*i)");
	fake_put_field(&fake.target, third, &fake.layout.rational.den, third);
	char expected[64];
	snprintf(expected, sizeof(expected), "(-1/<unreadable 0x%lx>)", (unsigned long)third);
	shows_bad(third, expected, "part of itself");
}
END_TEST

/* A Time whose fields are not cached, of a number of nanoseconds. */
static uint64_t time_of(uint64_t nanoseconds)
{
	enum { UTC = 1 };
	static const char name[] = "time";
	const struct rcore_layout *layout = &fake.layout;
	uint64_t type = fake_alloc(&fake.target, layout->data_type.size, 8);
	uint64_t text = fake_alloc(&fake.target, sizeof(name), 8);
	uint64_t data = fake_alloc(&fake.target, layout->time.size, 8);
	uint64_t typed = rcore_has(&layout->data.typed_flag)
				 ? 0
				 : (uint64_t)layout->constant.typed_fl_is_typed_data;
	uint64_t object = fake_object(&fake, RCORE_T_DATA | typed, 64);
	fake_write(&fake.target, text, name, sizeof(name));
	fake_put_field(&fake.target, type, &layout->data_type.wrap_struct_name, text);
	fake_put_field(&fake.target, object, &layout->data.typed_flag, 1);
	fake_put_field(&fake.target, object, &layout->data.type, type);
	fake_put_field(&fake.target, object, &layout->data.data, data);
	fake_put_field(&fake.target, data, &layout->time.timew, nanoseconds);
	fake_put_field(&fake.target, data, &layout->time.tzmode, UTC);
	return object;
}

START_TEST(test_times)
{
	begin(_i);
	/* 2^127 - 1, and 0.93 * 2^126 / 10^9. */
	static const uint32_t most[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, INT32_MAX};
	unsigned __int128 exact = ((unsigned __int128)93 << 120) / 100 * 64 / 1000000000;
	const uint32_t digits[] = {(uint32_t)exact, (uint32_t)(exact >> 32),
				   (uint32_t)(exact >> 64)};
	uint64_t den = fake_bignum(&fake, digits, 3, false, false);
	uint64_t num = fake_bignum(&fake, most, 4, true, false);
	const char *text = inspected(time_of(fake_rational(&fake, num, den)), NULL).text;
	ck_assert_msg(strstr(text, "1969-12-31 23:59:57") == text, "%s", text);
	shows(time_of(FAKE_FIXNUM(0)), "1970-01-01 00:00:00 UTC");
	shows(time_of(FAKE_FIXNUM(-1000000000)), "1969-12-31 23:59:59 UTC");
	static const uint32_t large[] = {0, 0, 0, 0, 1};
	uint64_t too_large = time_of(fake_bignum(&fake, large, 5, false, false));
	ck_assert_msg(strstr(inspected(too_large, NULL).problem, "16 bytes cannot hold"), "%s",
		      inspected(too_large, NULL).problem);
	const uint64_t wrong[] = {nil(), UTF_8("text"), fake_rational(&fake, nil(), nil())};
	for (size_t i = 0; i < RCORE_COUNT(wrong); i++) {
		struct rcore_value value = inspected(time_of(wrong[i]), NULL);
		ck_assert_ptr_nonnull(value.problem);
		ck_assert_msg(strstr(value.problem, "which is no number"), "%s", value.problem);
	}
}
END_TEST

/*
 * Sets up a class that Struct.new created, with its name if that is an instance
 * variable.
 */
static void name_members(uint64_t klass, const char *name, uint64_t names)
{
	const struct fake_ivar ivars[] = {{fake.classpath, fake_string(&fake, name)},
					  {fake_id(&fake, "__members__"), names}};
	fake_set_ivars(&fake, klass, FAKE_IVAR_HEAP, ivars, 2);
}

START_TEST(test_structs)
{
	begin(_i);
	uint64_t base = fake_named_class(&fake, "Struct", 0);
	uint64_t point = fake_named_class(&fake, "Point", base);
	uint64_t derived = fake_named_class(&fake, "Derived", point);
	uint64_t data =
		fake_named_class(&fake, "Coordinate", fake_named_class(&fake, "Data", 0));
	uint64_t names = ARRAY(fake_symbol(&fake, "x"), fake_symbol(&fake, "y?"));
	name_members(point, "Point", names);
	name_members(data, "Coordinate", names);
	uint64_t values[] = {FAKE_FIXNUM(1), UTF_8("b")};
	shows(fake_struct(&fake, point, values, 2, true), "#<struct Point x=1, :y?=\"b\">");
	shows(fake_struct(&fake, derived, values, 2, false),
	      "#<struct Derived x=1, :y?=\"b\">");
	shows(fake_struct(&fake, data, values, 1, true), "#<data Coordinate x=1>");
	uint64_t cycle = fake_struct(&fake, point, values, 2, false), at;
	rcore_read_field(&fake.target.memory, cycle, &fake.layout.rstruct.heap_ptr, &at);
	fake_put(&fake.target, at, cycle);
	shows(cycle, "#<struct Point x=#<struct Point:...>, :y?=\"b\">");
	struct rcore_value bare = inspected(fake_struct(&fake, base, values, 2, true), NULL);
	ck_assert_str_eq(bare.text, "#<struct Struct ?=1, ?=\"b\">");
	ck_assert_ptr_nonnull(bare.problem);
}
END_TEST

START_TEST(test_ranges)
{
	begin(_i);
	uint64_t range = fake_named_class(&fake, "Range", 0);
	shows(fake_struct(&fake, range, (uint64_t[]){FAKE_FIXNUM(1), FAKE_FIXNUM(2), 0}, 3,
			  true),
	      "1..2");
	shows(fake_struct(&fake, range, (uint64_t[]){FAKE_FIXNUM(1), FAKE_FIXNUM(2), 0x14}, 3,
			  false),
	      "1...2");
	bool is_old = fake.layout.traits.range_always_begins;
	shows(fake_struct(&fake, range, (uint64_t[]){nil(), FAKE_FIXNUM(2), 0}, 3, true),
	      is_old ? "nil..2" : "..2");
	shows(fake_struct(&fake, range, (uint64_t[]){nil(), nil(), 0}, 3, true),
	      is_old ? "nil.." : "nil..nil");
	shows(fake_struct(&fake, range, (uint64_t[]){FAKE_FIXNUM(1), nil(), 0}, 3, true),
	      "1..");
}
END_TEST

START_TEST(test_objects)
{
	begin(_i);
	uint64_t klass = fake_named_class(&fake, "Foo", 0);
	uint64_t plain = fake_instance(&fake, fake_object(&fake, RCORE_T_OBJECT, 40), klass);
	uint64_t object = fake_instance(&fake, fake_object(&fake, RCORE_T_OBJECT, 80),
					fake_named_class(&fake, "Foo::Bar", 0));
	struct fake_ivar ivars[] = {{fake_id(&fake, "@a") | 2, FAKE_FIXNUM(1)},
				    {fake_id(&fake, "@me") | 2, object},
				    {fake_id(&fake, "hidden"), nil()}};
	fake_set_ivars(&fake, object, FAKE_IVAR_EMBEDDED, ivars, 3);
	fake_set_ivars(&fake, plain, FAKE_IVAR_EMBEDDED, NULL, 0);
	char expected[128];
	snprintf(expected, sizeof(expected), "#<Foo:0x%016lx>", (unsigned long)plain);
	shows(plain, expected);
	snprintf(expected, sizeof(expected),
		 "#<Foo::Bar:0x%016lx @a=1, @me=#<Foo::Bar:0x%016lx ...>>",
		 (unsigned long)object, (unsigned long)object);
	shows(object, expected);
	ck_assert_str_eq(inspected(object, NULL).class_name, "Foo::Bar");
	snprintf(expected, sizeof(expected), "#<Foo::Bar:0x%016lx @a=1, ... (1 more)>",
		 (unsigned long)object);
	shows_with(object, 0, 0, 1, expected);
	ruby.top_self = object;
	shows(object, "main");

	struct rcore_printed printed = {0};
	OK(rcore_print_value(&ruby, object, NULL, &printed));
	ck_assert_str_eq(printed.type, "T_OBJECT");
	ck_assert_uint_eq(printed.variable_count, 2);
	ck_assert_str_eq(printed.variables[0].name, "@a");
	ck_assert_str_eq(printed.variables[0].value.text, "1");
}
END_TEST

START_TEST(test_classes)
{
	begin(_i);
	make_classes();
	shows(classes.foo, "Foo::Bar");
	shows(classes.module, "A::Module::With::A::Rather::Long::Name");
	shows(classes.foo_singleton, "#<Class:Foo::Bar>");
	shows(classes.tmp, "#<Class:0x00007f>::Inner");
	char expected[64];
	snprintf(expected, sizeof(expected), "<internal 0x%lx>", (unsigned long)classes.iclass);
	shows(classes.iclass, expected);
}
END_TEST

START_TEST(test_others)
{
	begin(_i);
	uint64_t klass = fake_named_class(&fake, "File", 0);
	shows(fake_regexp(&fake, "a/b\\/c\n", 7), "/a\\/b\\/c\n/mix");
	shows(fake_regexp(&fake, "plain", 0), "/plain/");
	shows(fake_instance(&fake, fake_file(&fake, 3, 0), klass), "#<File:fd 3>");
	shows(fake_instance(&fake, fake_file(&fake, -1, 0), klass), "#<File:(closed)>");
	shows(fake_instance(&fake, fake_file(&fake, 3, UTF_8("a.rb")), klass), "#<File:a.rb>");
	shows(fake_instance(&fake, fake_file(&fake, -1, UTF_8("a.rb")), klass),
	      "#<File:a.rb (closed)>");
}
END_TEST

START_TEST(test_slots)
{
	begin(_i);
	static const struct {
		uint64_t flags;
		const char *name;
	} slots[] = {
		{RCORE_T_NONE, "freed"},
		{RCORE_T_ZOMBIE, "zombie"},
		{RCORE_T_IMEMO, "internal"},
		{RCORE_T_NODE, "internal"},
	};
	char expected[64];
	for (size_t i = 0; i < RCORE_COUNT(slots); i++) {
		uint64_t slot = fake_object(&fake, slots[i].flags, 40);
		snprintf(expected, sizeof(expected), "<%s 0x%lx>", slots[i].name,
			 (unsigned long)slot);
		shows(slot, expected);
	}
	uint64_t moved = fake_object(&fake, RCORE_T_MOVED, 40);
	fake_put(&fake.target, moved + 16, 0x1230);
	snprintf(expected, sizeof(expected), "<moved 0x%lx to 0x1230>", (unsigned long)moved);
	shows(moved, expected);
	shows_bad(0x10000, "<unreadable 0x10000>", "unmapped");
	shows_bad(0x10, "<unreadable 0x10>", "is not an object");
}
END_TEST

/* Creates one value of every kind, for errors. */
static uint64_t everything(void)
{
	uint64_t klass = fake_named_class(&fake, "Foo", 0);
	uint64_t point = fake_named_class(&fake, "Point", fake_named_class(&fake, "Struct", 0));
	uint64_t object = fake_instance(&fake, fake_object(&fake, RCORE_T_OBJECT, 80), klass);
	struct fake_ivar ivar = {fake_id(&fake, "@a") | 2, UTF_8("text")};
	struct fake_pair pairs[] = {{fake_symbol(&fake, "key"), object},
				    {UTF_8("b"), fake_float(&fake, 1e100)}};
	static const uint32_t digits[] = {1, 2, 3};
	name_members(point, "Point", ARRAY(fake_symbol(&fake, "x")));
	fake_set_ivars(&fake, object, FAKE_IVAR_EMBEDDED, &ivar, 1);
	return ARRAY(fake_hash_ar(&fake, pairs, 2, 0), fake_hash_st(&fake, pairs, 2, 0),
		     fake_struct(&fake, point, &(uint64_t){FAKE_FIXNUM(1)}, 1, true),
		     fake_bignum(&fake, digits, 3, false, false),
		     fake_complex(&fake, FAKE_FIXNUM(1),
				  fake_rational(&fake, FAKE_FIXNUM(1), FAKE_FIXNUM(2))),
		     fake_regexp(&fake, "a/b", 1), klass,
		     fake_instance(&fake, fake_file(&fake, 3, UTF_8("path")), klass),
		     fake_string_heap(&fake, "a string that is long enough for the heap", 40));
}

/*
 * Each read fails once: the text is otherwise right, and the value has a
 * problem.
 */
START_TEST(test_faults)
{
	begin(_i);
	uint64_t value = everything();
	struct rcore_value clean = inspected(value, NULL);
	char *expected = strdup(clean.text);
	ck_assert_msg(!clean.problem, "%s: %s", clean.text, clean.problem);
	for (size_t fail_at = 1;; fail_at++) {
		read_again();
		fake_target_fault(&fake.target, fail_at, false);
		struct rcore_value result = inspected(value, NULL);
		if (fake.target.reads < fail_at)
			break;
		ck_assert_msg(result.problem || !strcmp(result.text, expected),
			      "read %zu: no problem said of %s", fail_at, result.text);
	}
	fake_target_fault(&fake.target, 0, false);
	read_again();
	shows(value, expected);
	free(expected);
}
END_TEST

/* Each word in memory gets values that it should not have. */
START_TEST(test_words)
{
	begin(_i);
	static const uint64_t bad[] = {0, 1, UINT64_MAX, 0x7f0000000000, UINT64_C(1) << 60};
	uint64_t value = everything();
	fake_put_generic_ivars(&fake);
	for (size_t r = 0; r < fake.target.range_count; r++) {
		struct fake_range range = fake.target.ranges[r];
		/* The symbol table is large and uniform. */
		size_t step = range.size > 4096 ? 1024 : 8;
		for (size_t at = 0; at + 8 <= range.size; at += step) {
			uint64_t old, word = bad[(at / 8 + r) % 5];
			memcpy(&old, range.bytes + at, sizeof(old));
			memcpy(range.bytes + at, &word, sizeof(word));
			read_again();
			struct rcore_value result = inspected(value, NULL);
			ck_assert_uint_lt(strlen(result.text), LONGEST_TEXT);
			struct rcore_printed printed = {0};
			OK(rcore_print_value(&ruby, value, NULL, &printed));
			memcpy(range.bytes + at, &old, sizeof(old));
		}
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_immediates, test_floats, test_strings, test_cut_strings, test_symbols,
		test_max_text,   test_arrays, test_limits,  test_hashes,      test_bad_hashes,
		test_numbers,    test_times,  test_structs, test_ranges,      test_objects,
		test_classes,    test_others, test_slots,   test_faults,      test_words,
	};
	return run_suite("inspect", tests, RCORE_COUNT(tests));
}
