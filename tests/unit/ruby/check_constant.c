/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "ruby/children/memsize.h"
#include "ruby/object/class.h"
#include "ruby/object/constant.h"
#include "ruby/get.h"
#include "ruby_suite.h"

#define PUT(base, struct_id, id, value) \
	fake_put_field(&fake.target, base, &fake.layout.struct_id.id, value)

struct constant {
	const char *name; /* NULL: an ID without a name */
	uint64_t value;
};

static uint64_t ext_of(uint64_t klass)
{
	uint64_t ext;
	OK(rcore_classext(&ruby, klass, &ext));
	return ext;
}

static void set_constants(uint64_t klass, const struct constant *constants, size_t count)
{
	size_t item_size = fake.layout.id_item.size;
	uint64_t table = fake_alloc(&fake.target, fake.layout.id_table.size, 8);
	uint64_t items = fake_alloc(&fake.target, 2 * count * item_size, 8);
	PUT(table, id_table, capacity, 2 * count);
	PUT(table, id_table, count, count);
	PUT(table, id_table, items, items);
	for (size_t i = 0; i < count; i++) {
		uint64_t item = items + 2 * i * item_size;
		uint64_t entry = fake_alloc(&fake.target, 64, 8);
		PUT(item, id_item, key,
		    constants[i].name ? fake_id(&fake, constants[i].name) >> 4 : 300);
		PUT(item, id_item, value, entry);
		PUT(entry, const_entry, value, constants[i].value);
	}
	PUT(ext_of(klass), classext, const_tbl, table);
}

/* Object < Kernel; Foo < (module Mixed) < Parent < Object; Foo::Inner. */
static uint64_t object, foo, inner, parent, mixed;

static void make_world(void)
{
	struct fake_class module = {.type = RCORE_T_MODULE, .path = "Mixed", .permanent = true};
	uint64_t undef = (uint64_t)fake.layout.constant.qundef;
	object = fake_named_class(&fake, "Object", 0);
	parent = fake_named_class(&fake, "Parent", object);
	mixed = fake_class(&fake, &module);
	struct fake_class include = {.type = RCORE_T_ICLASS, .klass = mixed};
	uint64_t iclass = fake_class(&fake, &include);
	foo = fake_named_class(&fake, "Foo", iclass);
	inner = fake_named_class(&fake, "Foo::Inner", object);
	if (rcore_has(&fake.layout.klass.super))
		PUT(iclass, klass, super, parent);
	else
		PUT(ext_of(iclass), classext, super, parent);
	set_constants(object,
		      (struct constant[]){{"Foo", foo},
					  {"Parent", parent},
					  {"LATER", undef},
					  {NULL, FAKE_FIXNUM(9)},
					  {"NUMBER", FAKE_FIXNUM(1)}},
		      5);
	set_constants(parent, (struct constant[]){{"OLD", FAKE_FIXNUM(2)}}, 1);
	set_constants(foo,
		      (struct constant[]){{"Inner", inner},
					  {"OLD", FAKE_FIXNUM(3)},
					  {"NUMBERS", FAKE_FIXNUM(5)}},
		      3);
	set_constants(iclass, (struct constant[]){{"MIXED", FAKE_FIXNUM(4)}}, 1);
	set_constants(inner, (struct constant[]){{"DEEP", FAKE_FIXNUM(6)}}, 1);
	ruby.top_self = fake_instance(&fake, fake_object(&fake, RCORE_T_OBJECT, 40), object);
}

static void read_world_again(void)
{
	uint64_t main_object = ruby.top_self;
	read_again();
	ruby.top_self = main_object;
}

START_TEST(test_found)
{
	static const struct {
		const char *path;
		unsigned number;
	} wanted[] = {{"NUMBER", 1},      {"::NUMBER", 1},   {"Foo::OLD", 3},
		      {"Parent::OLD", 2}, {"Foo::MIXED", 4}, {"Foo::Inner::DEEP", 6}};
	uint64_t value;
	begin(_i);
	make_world();
	for (size_t i = 0; i < RCORE_COUNT(wanted); i++) {
		OK(rcore_constant(&ruby, wanted[i].path, &value));
		ck_assert_msg(value == FAKE_FIXNUM(wanted[i].number), "%s", wanted[i].path);
	}
	OK(rcore_constant(&ruby, "Foo::Inner", &value));
	ck_assert_uint_eq(value, inner);
}
END_TEST

START_TEST(test_not_found)
{
	static const struct {
		const char *path, *message;
	} wanted[] = {
		{"Nope", "there is no constant Nope"},
		{"", "there is no constant "},
		{"::", "there is no constant ::"},
		{"Foo::", "there is no constant Foo::"},
		{"Foo::::OLD", "there is no constant Foo::"},
		/* Object's own constants belong to nobody else. */
		{"Foo::NUMBER", "there is no constant Foo::NUMBER"},
		{"Inner", "there is no constant Inner"},
		{"Foo::Inner::Nope::X", "there is no constant Foo::Inner::Nope"},
		{"NUMBER::X", "NUMBER is neither a class nor a module, so it has no constants"},
		{"LATER", "constant LATER is an autoload that has not been loaded yet"},
	};
	uint64_t value = 77;
	begin(_i);
	make_world();
	for (size_t i = 0; i < RCORE_COUNT(wanted); i++) {
		struct rcore_error *err = rcore_constant(&ruby, wanted[i].path, &value);
		ck_assert_msg(err != NULL, "%s", wanted[i].path);
		ck_assert_str_eq(err->message, wanted[i].message);
		ck_assert_int_eq(code(err), RCORE_ERROR_USAGE);
	}
	char path[2000];
	memset(path, 'A', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(code(rcore_constant(&ruby, path, &value)), RCORE_ERROR_USAGE);
	ruby.top_self = 0;
	ck_assert_int_eq(code(rcore_constant(&ruby, "Foo", &value)), RCORE_ERROR_CORRUPT);
}
END_TEST

struct names {
	char text[400];
	size_t count;
};

static struct rcore_error *note(void *context, const char *path)
{
	struct names *names = context;
	size_t length = strlen(names->text);
	snprintf(names->text + length, sizeof(names->text) - length, "%s ", path);
	names->count++;
	return NULL;
}

static struct rcore_error *refuse(void *context, const char *path)
{
	(void)context;
	return rcore_error_create(RCORE_ERROR_LIMIT, "enough with %s", path);
}

START_TEST(test_names)
{
	static const struct {
		const char *begun, *names;
	} wanted[] = {
		{"F", "Foo Parent LATER NUMBER "},
		{"::", "::Foo ::Parent ::LATER ::NUMBER "},
		{"Foo::N", "Foo::Inner Foo::OLD Foo::NUMBERS Foo::MIXED Foo::OLD "},
		{"::Foo::Inner::", "::Foo::Inner::DEEP "},
	};
	begin(_i);
	make_world();
	for (size_t i = 0; i < RCORE_COUNT(wanted); i++) {
		struct names names = {0};
		OK(rcore_constants(&ruby, wanted[i].begun, note, &names));
		ck_assert_str_eq(names.text, wanted[i].names);
	}
	struct names none = {0};
	ck_assert_int_eq(code(rcore_constants(&ruby, "Nope::A", note, &none)),
			 RCORE_ERROR_USAGE);
	ck_assert_int_eq(code(rcore_constants(&ruby, "NUMBER::A", note, &none)),
			 RCORE_ERROR_USAGE);
	ck_assert_uint_eq(none.count, 0);
	ck_assert_int_eq(code(rcore_constants(&ruby, "Foo::", refuse, NULL)),
			 RCORE_ERROR_LIMIT);
}
END_TEST

/*
 * In a box, a class that Ruby made has the constants that the box gave it, and nothing of
 * other boxes; without boxes, or unless Ruby made it, its own.
 */
START_TEST(test_boxes)
{
	enum { BOXABLE = 1 << 16 };
	uint64_t value, flags = RCORE_T_CLASS;
	begin(_i);
	if (!rcore_has(&fake.layout.vm.main_box))
		return;
	make_world();
	uint64_t box = fake_named_class(&fake, "Box", object);
	struct fake_ivar own[] = {
		{object, 0}, /* a box that is not the main one */
		{box, fake_alloc(&fake.target, fake.layout.classext.size, 8)}};
	fake_put(&fake.target, object + fake.layout.klass.size + fake.layout.classext.size,
		 fake_st_table(&fake, own, 2, 0));
	ruby.main_box = box;
	OK(rcore_constant(&ruby, "NUMBER", &value));
	ck_assert_uint_eq(value, FAKE_FIXNUM(1));
	PUT(object, basic, flags, flags | BOXABLE);
	set_constants(object, (struct constant[]){{"NUMBER", FAKE_FIXNUM(7)}, {"Foo", foo}}, 2);
	OK(rcore_constant(&ruby, "NUMBER", &value));
	ck_assert_uint_eq(value, FAKE_FIXNUM(7));
	OK(rcore_constant(&ruby, "Foo::OLD", &value));
	ck_assert_uint_eq(value, FAKE_FIXNUM(3));
	struct rcore_error *err = rcore_constant(&ruby, "Parent", &value);
	ck_assert_str_eq(err->message, "there is no constant Parent in the main box");
	ck_assert_int_eq(code(err), RCORE_ERROR_USAGE);
	ruby.main_box = 0;
	OK(rcore_constant(&ruby, "NUMBER", &value));
	ck_assert_uint_eq(value, FAKE_FIXNUM(1));
}
END_TEST

/* A class among its own ancestors, a table without end. */
START_TEST(test_broken)
{
	uint64_t value, table;
	struct names names = {0};
	begin(_i);
	make_world();
	if (rcore_has(&fake.layout.klass.super))
		PUT(parent, klass, super, foo);
	else
		PUT(ext_of(parent), classext, super, foo);
	ck_assert_int_eq(code(rcore_constant(&ruby, "Foo::NOPE", &value)), RCORE_ERROR_LIMIT);
	OK(rcore_constant(&ruby, "Foo::OLD", &value));
	OK(RCORE_GET(&ruby, ext_of(inner), classext, const_tbl, &table));
	PUT(table, id_table, capacity, INT32_MAX);
	ck_assert_int_eq(code(rcore_constant(&ruby, "Foo::Inner::DEEP", &value)),
			 RCORE_ERROR_LIMIT);
	ck_assert_int_eq(code(rcore_constants(&ruby, "Foo::Inner::", note, &names)),
			 RCORE_ERROR_LIMIT);
}
END_TEST

/* Whichever read fails, the result is right or an error. */
START_TEST(test_faults)
{
	begin(_i);
	make_world();
	uint64_t value;
	fake_target_fault(&fake.target, 0, false);
	read_world_again();
	OK(rcore_constant(&ruby, "Foo::Inner::DEEP", &value));
	size_t reads = fake.target.reads;
	for (size_t at = 1; at <= reads * 2; at++) {
		value = 0;
		read_world_again();
		fake_target_fault(&fake.target, (at + 1) / 2, at % 2);
		int failed = code(rcore_constant(&ruby, "Foo::Inner::DEEP", &value));
		ck_assert(failed || value == FAKE_FIXNUM(6));
	}
	fake_target_fault(&fake.target, 0, false);
}
END_TEST

/*
 * Finds the size of an iseq that only has a body, in a world where the class
 * `scope_name` has these constants.
 */
static bool size_of_code(const char *scope_name, const char *const *names, size_t count,
			 uint64_t *ret)
{
	enum { SLOT = 40, ROOM = 1024 };
	struct constant constants[8];
	unsigned char slot[SLOT];
	make_world();
	uint64_t scope = fake_named_class(&fake, scope_name, object);
	for (size_t i = 0; i < count; i++)
		constants[i] = (struct constant){names[i], FAKE_FIXNUM(1)};
	set_constants(scope, constants, count);
	set_constants(object, (struct constant[]){{scope_name, scope}}, 1);
	uint64_t code_object = fake_imemo(&fake, fake.layout.traits.imemo_iseq, SLOT);
	PUT(code_object, iseq, body, fake_alloc(&fake.target, ROOM, 8));
	ck_assert_int_eq(rcore_read(ruby.memory, code_object, slot, sizeof(slot)),
			 RCORE_FAULT_NONE);
	ruby.statics.iseq_body_size = 0;
	return rcore_memsize(&ruby, code_object, slot, sizeof(slot), ret);
}

/* The constants show with which compilers Ruby was built. */
START_TEST(test_compilers)
{
	static const char *const all[] = {"MJIT", "RJIT", "YJIT", "ZJIT"};
	uint64_t none, size;
	begin(_i);
	ck_assert(size_of_code("RubyVM", NULL, 0, &none));
	for (size_t i = 0; i < RCORE_COUNT(all); i++) {
		begin(_i);
		ck_assert(size_of_code("RubyVM", &all[i], 1, &size));
		ck_assert_uint_eq(size - none,
				  rcore_layout_iseq_body_size(&fake.layout, 1u << i) -
					  rcore_layout_iseq_body_size(&fake.layout, 0));
	}
	/* A Ruby without RubyVM is damaged, so nothing is known. */
	begin(_i);
	ck_assert_int_eq(size_of_code("Other", all, RCORE_COUNT(all), &size),
			 !rcore_layout_has_jit_members(&fake.layout));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_found,  test_not_found, test_names,    test_boxes,
				      test_broken, test_faults,    test_compilers};
	return run_suite("constant", tests, RCORE_COUNT(tests));
}
