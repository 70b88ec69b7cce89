/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "ruby/object/array.h"
#include "ruby/object/class_name.h"
#include "ruby/heap/heap.h"
#include "ruby/symbol/id.h"
#include "ruby/object/string.h"
#include "random_heap.h"
#include "ruby_suite.h"

START_TEST(test_value)
{
	begin(_i);
	uint64_t flags;
	enum rcore_type type;
	uint64_t object = fake_object(&fake, RCORE_T_HASH | 0xff00, 40);
	uint64_t count = 7;
	ck_assert(rcore_is_count(1, &count) && count == 0);
	ck_assert(rcore_is_count(INT64_MAX, &count) && count == INT64_MAX >> 1);
	/* -1, nil, an address */
	ck_assert(!rcore_is_count(UINT64_MAX, &count) && !rcore_is_count(8, &count) &&
		  !rcore_is_count(object, &count));
	ck_assert(rcore_is_nil(&ruby, 0));
	ck_assert(rcore_is_nil(&ruby, (uint64_t)fake.layout.constant.qnil));
	ck_assert(!rcore_is_nil(&ruby, object));
	ck_assert(rcore_is_object(&ruby, object));
	static const uint64_t immediates[] = {0, 4, 8, 0x14, 0x24, 0x34, 3, 0x30c, 0x1002};
	for (size_t i = 0; i < RCORE_COUNT(immediates); i++) {
		ck_assert(!rcore_is_object(&ruby, immediates[i]));
		ck_assert_int_eq(code(rcore_flags(&ruby, immediates[i], &flags)),
				 RCORE_ERROR_CORRUPT);
	}
	OK(rcore_type(&ruby, object, &type));
	ck_assert_int_eq(type, RCORE_T_HASH);
	ck_assert_int_eq(code(rcore_flags(&ruby, 0x10000, &flags)), RCORE_ERROR_FAULT);
}
END_TEST

static void check_string(uint64_t value, const char *expected, size_t length)
{
	const char *text;
	size_t got;
	OK(rcore_string(&ruby, value, &text, &got));
	ck_assert_uint_eq(got, length);
	ck_assert_mem_eq(text, expected, length);
	ck_assert_int_eq(text[length], 0);
	OK(rcore_string(&ruby, value, &text, NULL));
}

START_TEST(test_string)
{
	begin(_i);
	const char *text;
	check_string(fake_string_embedded(&fake, "", 0), "", 0);
	check_string(fake_string_embedded(&fake, "foo", 3), "foo", 3);
	check_string(fake_string_embedded(&fake, "a\0b", 3), "a\0b", 3);
	check_string(fake_string_embedded(&fake, "abcdefghijklmnopqrstuvw", 23),
		     "abcdefghijklmnopqrstuvw", 23);
	check_string(fake_string_heap(&fake, "foo", 3), "foo", 3);
	check_string(fake_string_heap(&fake, "", 0), "", 0);

	size_t size = RCORE_STRING_LIMIT + 10;
	char *large = malloc(size);
	memset(large, 'x', size);
	check_string(fake_string_heap(&fake, large, size), large, RCORE_STRING_LIMIT);
	free(large);

	uint64_t value = fake_string_heap(&fake, "foo", 3);
	static const char *const others[] = {"fob", "fo", "fooo"};
	bool same = false;
	OK(rcore_string_is(&ruby, value, "foo", &same));
	ck_assert(same);
	for (size_t i = 0; i < RCORE_COUNT(others); i++) {
		OK(rcore_string_is(&ruby, value, others[i], &same));
		ck_assert(!same);
	}
	fake_put_field(&fake.target, value, &fake.layout.string.len, UINT64_MAX);
	ck_assert_int_eq(code(rcore_string(&ruby, value, &text, NULL)), RCORE_ERROR_CORRUPT);
	fake_put_field(&fake.target, value, &fake.layout.string.len, INT64_MAX);
	ck_assert_int_eq(code(rcore_string(&ruby, value, &text, NULL)), RCORE_ERROR_FAULT);
	value = fake_object(&fake, RCORE_T_ARRAY, 40);
	ck_assert_int_eq(code(rcore_string(&ruby, value, &text, NULL)), RCORE_ERROR_CORRUPT);
}
END_TEST

START_TEST(test_array)
{
	begin(_i);
	uint64_t elements[3] = {1, 3, 5}, value;
	uint64_t embedded = fake_array_embedded(&fake, elements, 3);
	uint64_t heap = fake_array_heap(&fake, elements, 3);
	for (uint64_t i = 0; i < 3; i++) {
		OK(rcore_array_at(&ruby, embedded, i, &value));
		ck_assert_uint_eq(value, elements[i]);
		OK(rcore_array_at(&ruby, heap, i, &value));
		ck_assert_uint_eq(value, elements[i]);
	}
	ck_assert_int_eq(code(rcore_array_at(&ruby, embedded, 3, &value)), RCORE_ERROR_LIMIT);
	ck_assert_int_eq(code(rcore_array_at(&ruby, heap, 3, &value)), RCORE_ERROR_LIMIT);
	fake_put_field(&fake.target, heap, &fake.layout.array.heap_len, UINT64_MAX / 2);
	ck_assert_int_eq(code(rcore_array_at(&ruby, heap, 0, &value)), RCORE_ERROR_CORRUPT);
	value = fake_string(&fake, "no Array");
	ck_assert_int_eq(code(rcore_array_at(&ruby, value, 0, &value)), RCORE_ERROR_CORRUPT);
}
END_TEST

static void check_id(uint64_t id, const char *expected)
{
	const char *name;
	OK(rcore_id_name(&ruby, id, &name));
	ck_assert_str_eq(name, expected);
	bool same = false;
	OK(rcore_id_is(&ruby, id, expected, &same));
	ck_assert(same);
	OK(rcore_id_is(&ruby, id, "something else", &same));
	ck_assert(!same);
}

static void check_find(const char *name, uint64_t expected)
{
	uint64_t found = 1;
	OK(rcore_id_find(&ruby, name, &found));
	ck_assert_uint_eq(found, expected);
}

/* An invalid unit, such as one that is being added, hides only its own IDs. */
START_TEST(test_find_id)
{
	begin(_i);
	uint64_t id = fake_id(&fake, "request_id"), found;
	check_find("request_id", id);
	check_find("+", '+');
	check_find("<=>", 134);
	check_find("request", 0);
	check_find("", 0);
	fake_put_field(&fake.target, fake.symbols, &fake.layout.symbols.last_id, 100000);
	check_find("request_id", id);
	check_find("none", 0);
	fake_put_field(&fake.target, fake.symbols, &fake.layout.symbols.last_id, UINT32_MAX);
	ck_assert_int_eq(code(rcore_id_find(&ruby, "+", &found)), RCORE_ERROR_LIMIT);
	ruby.global_symbols = 0;
	ck_assert_int_eq(code(rcore_id_find(&ruby, "+", &found)), RCORE_ERROR_FAULT);
}
END_TEST

START_TEST(test_id)
{
	begin(_i);
	const char *name, *again;
	check_id('+', "+");
	check_id('`', "`");
	check_id(134, "<=>");
	uint64_t id = fake_id(&fake, "each_with_object_of_a_long_name");
	check_id(id, "each_with_object_of_a_long_name");
	check_id(id | 0xf, "each_with_object_of_a_long_name");
	OK(rcore_id_name(&ruby, id, &name));
	OK(rcore_id_name(&ruby, id, &again));
	ck_assert_ptr_eq(name, again);

	static const uint64_t none[] = {0, 1, UINT64_MAX};
	for (size_t i = 0; i < RCORE_COUNT(none); i++)
		ck_assert_int_eq(code(rcore_id_name(&ruby, none[i], &name)),
				 RCORE_ERROR_CORRUPT);
	uint64_t next = fake.serials << fake.layout.constant.id_scope_shift;
	ck_assert_int_eq(code(rcore_id_name(&ruby, next, &name)), RCORE_ERROR_CORRUPT);
	fake_put_field(&fake.target, fake.symbols, &fake.layout.symbols.last_id, 1000000);
	next = UINT64_C(999999) << fake.layout.constant.id_scope_shift;
	ck_assert_int_eq(code(rcore_id_name(&ruby, next, &name)), RCORE_ERROR_CORRUPT);
	ruby.global_symbols = 0;
	ck_assert_int_eq(code(rcore_id_name(&ruby, fake.classpath, &name)), RCORE_ERROR_FAULT);
}
END_TEST

START_TEST(test_symbols_search)
{
	begin(_i);
	enum { DATA = 300000, WHERE = 65536 - 8 };
	uint64_t size = fake.layout.symbols.size;
	unsigned char copy[256];
	ck_assert_uint_le(size, sizeof(copy));
	ck_assert(rcore_symbols_prove(&ruby, fake.symbols));
	ck_assert(!rcore_symbols_prove(&ruby, fake.symbols + 8));
	rcore_read(ruby.memory, fake.symbols, copy, size);

	/*
	 * At the end of a chunk that is read at once, after something similar.
	 */
	uint64_t data = fake_alloc(&fake.target, DATA, 4096);
	fake_write(&fake.target, data + 4096, copy, size);
	uint64_t empty[1] = {0};
	fake_put_field(&fake.target, data + 4096, &fake.layout.symbols.ids,
		       fake_array_embedded(&fake, empty, 1));
	fake_write(&fake.target, data + WHERE, copy, size);
	ruby.global_symbols = 0;
	ck_assert(!rcore_symbols_search(&ruby, data, data + WHERE));
	ck_assert_uint_eq(ruby.global_symbols, 0);
	ck_assert(rcore_symbols_search(&ruby, data, data + DATA));
	ck_assert_uint_eq(ruby.global_symbols, data + WHERE);
	/* After memory that cannot be read, and from an odd address. */
	ck_assert(rcore_symbols_search(&ruby, data - 100003, data + DATA));
	ck_assert(!rcore_symbols_search(&ruby, data + WHERE + 8, data + DATA));
	ck_assert(!rcore_symbols_search(&ruby, data, data));
}
END_TEST

START_TEST(test_class_name)
{
	begin(_i);
	make_classes();
	struct rcore_class_name name;
	OK(rcore_class_name(&ruby, classes.foo, &name));
	ck_assert_str_eq(name.path, "Foo::Bar");
	ck_assert(name.permanent && !name.is_singleton && !name.is_module);
	ck_assert_uint_eq(name.attached, 0);
	OK(rcore_class_name(&ruby, classes.tmp, &name));
	ck_assert_str_eq(name.path, "#<Class:0x00007f>::Inner");
	ck_assert(!name.permanent);
	OK(rcore_class_name(&ruby, classes.anonymous, &name));
	ck_assert_ptr_null(name.path);
	OK(rcore_class_name(&ruby, classes.iclass, &name));
	ck_assert_str_eq(name.path, "A::Module::With::A::Rather::Long::Name");
	ck_assert(name.is_module && name.permanent);
	OK(rcore_class_name(&ruby, classes.prepended_origin, &name));
	ck_assert_str_eq(name.path, "Foo::Bar");
	OK(rcore_class_name(&ruby, classes.foo_singleton, &name));
	ck_assert_ptr_null(name.path);
	ck_assert(name.is_singleton);
	ck_assert_uint_eq(name.attached, classes.foo);
	uint64_t none = fake_string(&fake, "no class");
	ck_assert_int_eq(code(rcore_class_name(&ruby, none, &name)), RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(code(rcore_class_name(&ruby, 0x10000, &name)), RCORE_ERROR_FAULT);
}
END_TEST

/*
 * A box's copy of a singleton class has no attached object: only the class
 * itself has it.
 */
START_TEST(test_singleton_in_box)
{
	enum { BOXABLE = 1 << 16 };
	struct rcore_class_name name;
	begin(_i);
	if (!rcore_has(&fake.layout.vm.main_box))
		return;
	make_classes();
	const size_t size = fake.layout.classext.size;
	uint64_t klass = classes.foo_singleton, box = classes.foo;
	struct fake_ivar own = {box, fake_alloc(&fake.target, size, 8)};
	fake_put_field(&fake.target, klass, &fake.layout.basic.flags,
		       RCORE_T_CLASS | fake.layout.traits.singleton_flag | BOXABLE);
	fake_put(&fake.target, klass + fake.layout.klass.size + size,
		 fake_st_table(&fake, &own, 1, 0));
	ruby.main_box = box;
	OK(rcore_class_name(&ruby, klass, &name));
	ck_assert(name.is_singleton);
	ck_assert_uint_eq(name.attached, classes.foo);
}
END_TEST

static void check_qualified(uint64_t owner, const char *expected)
{
	const char *text, *problem = NULL;
	OK(rcore_qualified_name(&ruby, owner, "x", &text, &problem));
	ck_assert_str_eq(text, expected);
	ck_assert_ptr_null(problem);
}

START_TEST(test_qualified_name)
{
	begin(_i);
	make_classes();
	const char *text, *problem = NULL;
	check_qualified(classes.foo, "Foo::Bar#x");
	check_qualified(classes.module, "A::Module::With::A::Rather::Long::Name#x");
	check_qualified(classes.tmp, "x");
	check_qualified(classes.anonymous, "x");
	check_qualified(classes.iclass, "x");
	check_qualified(classes.foo_singleton, "Foo::Bar.x");
	check_qualified(classes.module_singleton, "A::Module::With::A::Rather::Long::Name.x");
	check_qualified(classes.tmp_singleton, "x");
	check_qualified(classes.object_singleton, "x");
	OK(rcore_qualified_name(&ruby, classes.lost_singleton, "x", &text, &problem));
	ck_assert_str_eq(text, "x");
	ck_assert_ptr_nonnull(problem);
	OK(rcore_qualified_name(&ruby, 0x10000, "x", &text, NULL));
	ck_assert_str_eq(text, "x");
}
END_TEST

START_TEST(test_method)
{
	begin(_i);
	make_classes();
	const struct rcore_method_entry *entry, *again;
	uint64_t id = fake_id(&fake, "run");
	uint64_t method = fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo, id, 0x1230);
	OK(rcore_method_entry(&ruby, method, &entry));
	ck_assert_int_eq(entry->type, RCORE_METHOD_ISEQ);
	ck_assert_uint_eq(entry->address, method);
	ck_assert_uint_eq(entry->owner, classes.foo);
	ck_assert_uint_eq(entry->defined_class, classes.foo);
	ck_assert_uint_eq(entry->called_id, id);
	ck_assert_uint_eq(entry->original_id, id);
	ck_assert_uint_eq(entry->iseq, 0x1230);
	ck_assert_uint_eq(entry->cfunc, 0);
	ck_assert_str_eq(entry->name, "run");
	ck_assert_ptr_null(entry->problem);
	OK(rcore_method_entry(&ruby, method, &again));
	ck_assert_ptr_eq(entry, again);

	method = fake_method(&fake, RCORE_METHOD_CFUNC, classes.foo, '+', 0x1234);
	OK(rcore_method_entry(&ruby, method, &entry));
	ck_assert_uint_eq(entry->cfunc, 0x1234);
	ck_assert_uint_eq(entry->iseq, 0);
	ck_assert_str_eq(entry->name, "+");

	method = fake_method(&fake, RCORE_METHOD_BMETHOD, classes.foo, 0xffff0, 0x1234);
	OK(rcore_method_entry(&ruby, method, &entry));
	ck_assert_ptr_null(entry->name);
	ck_assert_ptr_nonnull(entry->problem);

	method = fake_method(&fake, (enum rcore_method_type)15, classes.foo, id, 0x1234);
	ck_assert_int_eq(code(rcore_method_entry(&ruby, method, &entry)), RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(code(rcore_method_entry(&ruby, classes.foo, &entry)),
			 RCORE_ERROR_CORRUPT);
}
END_TEST

START_TEST(test_iseq)
{
	begin(_i);
	const struct rcore_iseq_info *iseq, *again;
	uint64_t parent = ISEQ(RCORE_ISEQ_METHOD, "/srv/app.rb", "run", .first_line = 70000);
	uint64_t block = ISEQ(RCORE_ISEQ_BLOCK, "/srv/app.rb", "block in run",
			      .path_and_realpath = true, .parent = parent, .local = parent);
	OK(rcore_iseq(&ruby, parent, &iseq));
	ck_assert_str_eq(iseq->path, "/srv/app.rb");
	ck_assert_str_eq(iseq->label, "run");
	ck_assert_str_eq(iseq->base_label, "run");
	ck_assert_int_eq(iseq->first_line, 70000);
	ck_assert_int_eq(iseq->type, RCORE_ISEQ_METHOD);
	ck_assert_uint_eq(iseq->parent, 0);
	ck_assert_uint_eq(iseq->local, parent);
	ck_assert(!iseq->is_internal && !iseq->is_c_trace);
	ck_assert_ptr_null(iseq->problem);
	OK(rcore_iseq(&ruby, parent, &again));
	ck_assert_ptr_eq(iseq, again);
	OK(rcore_iseq(&ruby, block, &iseq));
	ck_assert_str_eq(iseq->path, "/srv/app.rb");
	ck_assert_uint_eq(iseq->parent, parent);
	ck_assert_uint_eq(iseq->local, parent);

	uint64_t internal =
		ISEQ(RCORE_ISEQ_METHOD, "<internal:kernel>", "loop", .is_c_trace = true);
	OK(rcore_iseq(&ruby, internal, &iseq));
	ck_assert(iseq->is_internal);
	ck_assert_int_eq(iseq->is_c_trace,
			 fake.layout.constant.builtin_attr_c_trace != RCORE_NO_CONSTANT);

	uint64_t body = 0;
	uint64_t broken = ISEQ(RCORE_ISEQ_METHOD, "/srv/app.rb", "run");
	rcore_read_field(ruby.memory, broken, &fake.layout.iseq.body, &body);
	fake_put_field(&fake.target, body, &fake.layout.iseq_body.pathobj, 0x10000);
	OK(rcore_iseq(&ruby, broken, &iseq));
	ck_assert_ptr_null(iseq->path);
	ck_assert_str_eq(iseq->label, "run");
	ck_assert_ptr_nonnull(iseq->problem);

	broken = ISEQ((enum rcore_iseq_type)9, "/srv/app.rb", "run");
	ck_assert_int_eq(code(rcore_iseq(&ruby, broken, &iseq)), RCORE_ERROR_CORRUPT);
	broken = fake_imemo(&fake, fake.layout.traits.imemo_iseq, 40);
	ck_assert_int_eq(code(rcore_iseq(&ruby, broken, &iseq)), RCORE_ERROR_FAULT);
	broken = fake_imemo(&fake, fake.layout.traits.imemo_ment, 40);
	ck_assert_int_eq(code(rcore_iseq(&ruby, broken, &iseq)), RCORE_ERROR_CORRUPT);
}
END_TEST

static uint64_t random_state;

/*
 * For every position of an iseq of `size` words, of which a share begins an
 * entry, compares with a walk through the entries.
 */
static void check_lines(uint32_t size, uint32_t share)
{
	uint32_t *positions = malloc(size * sizeof(*positions)), count = 0;
	int *lines = malloc(size * sizeof(*lines));
	for (uint32_t i = 0; i < size; i++)
		if (!i || random_below(&random_state, 100) < share) {
			positions[count] = i;
			lines[count++] = (int)random_below(&random_state, 100000);
		}
	const struct rcore_iseq_info *iseq;
	uint64_t address = ISEQ(RCORE_ISEQ_METHOD, "a.rb", "a", .size = size,
				.positions = positions, .lines = lines, .line_count = count);
	uint64_t code_at = fake_iseq_code(&fake, address);
	OK(rcore_iseq(&ruby, address, &iseq));
	for (uint32_t i = 0; i <= size; i++) {
		uint32_t position = i ? i - 1 : 0, entry = 0;
		int line = -1;
		while (entry + 1 < count && positions[entry + 1] <= position)
			entry++;
		OK(rcore_iseq_line(&ruby, iseq, code_at + i * 8, &line));
		ck_assert_int_eq(line, lines[entry]);
	}
	free(positions);
	free(lines);
}

START_TEST(test_iseq_line)
{
	begin(_i);
	static const uint32_t sizes[] = {1,  2,   8,   9,   10,  53,  54,
					 55, 117, 118, 565, 566, 567, 3000};
	random_state = 20260101;
	for (size_t i = 0; i < RCORE_COUNT(sizes); i++) {
		check_lines(sizes[i], 0);
		check_lines(sizes[i], 20);
		check_lines(sizes[i], 100);
	}

	int line = -1;
	const struct rcore_iseq_info *iseq;
	uint64_t address = ISEQ(RCORE_ISEQ_METHOD, "a.rb", "a", .size = 5);
	uint64_t code_at = fake_iseq_code(&fake, address);
	OK(rcore_iseq(&ruby, address, &iseq));
	OK(rcore_iseq_line(&ruby, iseq, code_at + 8, &line));
	ck_assert_int_eq(line, 0);
	uint64_t outside[] = {0, code_at - 8, code_at + 4, code_at + 6 * 8, UINT64_MAX - 7};
	for (size_t i = 0; i < RCORE_COUNT(outside); i++)
		ck_assert_int_eq(code(rcore_iseq_line(&ruby, iseq, outside[i], &line)),
				 RCORE_ERROR_CORRUPT);

	/* More entries than words; an index past the entries. */
	uint64_t body;
	static const uint32_t positions[] = {0, 1, 2};
	static const int lines[] = {1, 2, 3};
	for (uint64_t count = 2; count <= 6; count += 4) {
		address = ISEQ(RCORE_ISEQ_METHOD, "a.rb", "a", .size = 5,
			       .positions = positions, .lines = lines, .line_count = 3);
		rcore_read_field(ruby.memory, address, &fake.layout.iseq.body, &body);
		fake_put_field(&fake.target, body, &fake.layout.iseq_body.insns_info_size,
			       count);
		OK(rcore_iseq(&ruby, address, &iseq));
		code_at = fake_iseq_code(&fake, address);
		ck_assert_int_eq(code(rcore_iseq_line(&ruby, iseq, code_at + 24, &line)),
				 RCORE_ERROR_CORRUPT);
	}
}
END_TEST

static size_t slot_size(size_t of_page)
{
	return rcore_has(&fake.layout.heap_page.slot_size) ? of_page : 40;
}

START_TEST(test_heap)
{
	begin(_i);
	uint64_t starts[3], objspace = make_heap(starts);
	struct visited visited = {0};
	size_t unreadable = 99;
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 0);
	ck_assert_uint_eq(visited.count, 3);
	ck_assert_uint_eq(visited.values[0], starts[0]);
	ck_assert_uint_eq(visited.values[1], starts[0] + 3 * slot_size(40));
	ck_assert_uint_eq(visited.values[2], starts[2] + slot_size(640));
	visited = (struct visited){.stop_at = 2};
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, NULL));
	ck_assert_uint_eq(visited.count, 2);

	/* A body that does not point back; a page with too many slots. */
	fake_put(&fake.target, starts[0] & ~(uint64_t)(fake.layout.traits.heap_page_align - 1),
		 0);
	visited = (struct visited){0};
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 1);
	ck_assert_uint_eq(visited.count, 1);
	uint64_t page = 0;
	rcore_read_u64(ruby.memory,
		       starts[2] & ~(uint64_t)(fake.layout.traits.heap_page_align - 1), &page);
	fake_put_field(&fake.target, page, &fake.layout.heap_page.total_slots, 0xffff);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 2);

	uint64_t list = 0;
	rcore_read_field(ruby.memory, objspace, &fake.layout.objspace.heap_pages_sorted, &list);
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.heap_pages_allocated,
		       UINT32_MAX);
	if (fake.layout.traits.heap_pages_darray)
		fake_put_field(&fake.target, list, &fake.layout.darray.length, UINT32_MAX);
	ck_assert_int_eq(
		code(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, NULL)),
		RCORE_ERROR_LIMIT);
}
END_TEST

/* States during heap_page_allocate() and heap_pages_free_unused_pages(). */
START_TEST(test_heap_changing)
{
	begin(_i);
	uint64_t starts[3], list, first, objspace = make_heap(starts);
	struct visited visited = {0};
	size_t unreadable;
	rcore_read_field(ruby.memory, objspace, &fake.layout.objspace.heap_pages_sorted, &list);
	if (fake.layout.traits.heap_pages_darray)
		return;
	rcore_read_u64(ruby.memory, list, &first);

	/*
	 * Two of three are found although the counter says one: the first entry
	 * was moved, but not overwritten yet.
	 */
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.heap_pages_allocated, 2);
	fake_put(&fake.target, list + 8, first);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 0);
	ck_assert_uint_eq(visited.count, 3);

	/*
	 * A freed page is not a page; the last one is still beyond the count.
	 */
	visited = (struct visited){0};
	fake_put(&fake.target, list + 8, list);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 0);
	ck_assert_uint_eq(visited.count, 3);

	/*
	 * One blank page is a new page; a second one is not a page. Nor is one
	 * in the place of a page that the list lacks, if that has a body.
	 */
	visited = (struct visited){0};
	uint64_t blank = fake_alloc(&fake.target, fake.layout.heap_page.size, 8);
	uint64_t second = starts[1] - starts[1] % fake.layout.traits.heap_page_align;
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.heap_pages_allocated, 3);
	fake_put(&fake.target, list + 8, blank);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 1);
	visited = (struct visited){0};
	fake_put(&fake.target, second, 0);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 0);
	ck_assert_uint_eq(visited.count, 3);
	visited = (struct visited){0};
	fake_put(&fake.target, list, blank);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 1);

	/* What begins with zeroes, but has a bitmap, is no new page. */
	visited = (struct visited){0};
	fake_put(&fake.target, list, first);
	fake_put(&fake.target, blank + (uint64_t)fake.layout.heap_page.mark_bits.offset, 1);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 1);

	/* A first slot that is not where one can be. */
	uint64_t third = 0, start = 0;
	rcore_read_u64(ruby.memory, list + 16, &third);
	rcore_read_field(ruby.memory, third, &fake.layout.heap_page.start, &start);
	fake_put_field(&fake.target, third, &fake.layout.heap_page.start, start + 16);
	visited = (struct visited){0};
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 2);
	fake_put_field(&fake.target, third, &fake.layout.heap_page.start, start);
	fake_put(&fake.target, blank + (uint64_t)fake.layout.heap_page.mark_bits.offset, 0);

	/* A blank page after the end of the list does not replace a lost one. */
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.heap_pages_allocated, 2);
	fake_put(&fake.target, list, first);
	fake_put(&fake.target, list + 8, 0);
	fake_put(&fake.target, list + 16, blank);
	visited = (struct visited){0};
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable));
	ck_assert_uint_eq(unreadable, 1);
}
END_TEST

static uint64_t list_entry(uint64_t objspace, size_t index)
{
	uint64_t list = 0;
	rcore_read_field(ruby.memory, objspace, &fake.layout.objspace.heap_pages_sorted, &list);
	if (fake.layout.traits.heap_pages_darray)
		list += fake.layout.darray.size;
	return list + index * sizeof(list);
}

static uint64_t page_at(uint64_t objspace, size_t index)
{
	uint64_t page = 0;
	rcore_read_u64(ruby.memory, list_entry(objspace, index), &page);
	return page;
}

static uint64_t body_of(uint64_t slot)
{
	return slot - slot % fake.layout.traits.heap_page_align;
}

static void check_walk(uint64_t objspace, size_t objects, size_t unreadable)
{
	struct visited visited = {0};
	size_t missed = 99;
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &missed));
	ck_assert_uint_eq(missed, unreadable);
	ck_assert_uint_eq(visited.count, objects);
}

/* heap_page_free() counts a page as freed before anything else. */
START_TEST(test_heap_freeing)
{
	begin(_i);
	uint64_t starts[3], objspace = make_heap(starts);
	if (fake.layout.traits.heap_pages_darray)
		return;
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.heap_pages_allocated, 2);
	check_walk(objspace, 3, 0);
	/* free() writes into the struct, which may look like a new one then. */
	fake_put_field(&fake.target, page_at(objspace, 1), &fake.layout.heap_page.total_slots,
		       0);
	fake_put_field(&fake.target, page_at(objspace, 1), &fake.layout.heap_page.slot_size, 0);
	check_walk(objspace, 3, 0);
}
END_TEST

/* From 3.4 on, a page without slots stays in the list, and so does its body. */
START_TEST(test_heap_empty_page)
{
	begin(_i);
	uint64_t starts[3], objspace = make_heap(starts);
	if (!fake.layout.traits.heap_pages_darray)
		return;
	/* Zeroes that take the place of a page. */
	uint64_t second = page_at(objspace, 1);
	uint64_t blank = fake_alloc(&fake.target, fake.layout.heap_page.size, 8);
	fake_put(&fake.target, list_entry(objspace, 1), blank);
	check_walk(objspace, 3, 1);
	/* It has lost its slots, in fact. */
	fake_put(&fake.target, list_entry(objspace, 1), second);
	fake_put_field(&fake.target, second, &fake.layout.heap_page.total_slots, 0);
	fake_put_field(&fake.target, second, &fake.layout.heap_page.slot_size, 0);
	fake_put_field(&fake.target, second, &fake.layout.heap_page.start, 0);
	check_walk(objspace, 3, 0);
}
END_TEST

/* From 3.4 on, the list keeps its length until all unused pages are freed. */
START_TEST(test_heap_freeing_list)
{
	enum { SWEEPING = 2 };
	begin(_i);
	uint64_t starts[3], objspace = make_heap(starts);
	if (!fake.layout.traits.heap_pages_darray)
		return;
	uint64_t freed = page_at(objspace, 1);
	fake_put(&fake.target, body_of(starts[1]), 0);
	check_walk(objspace, 3, 1);
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.gc_mode, SWEEPING);
	check_walk(objspace, 3, 0);
	/* Process.warmup frees pages, too: most bodies are unmapped. */
	fake_put_field(&fake.target, objspace, &fake.layout.objspace.gc_mode, 0);
	fake_put_field(&fake.target, freed, &fake.layout.heap_page.start, 0x10);
	check_walk(objspace, 3, 0);
	/* A page after a freed one has been moved towards the start. */
	fake_put(&fake.target, list_entry(objspace, 1), page_at(objspace, 2));
	check_walk(objspace, 3, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_value,
		test_string,
		test_array,
		test_id,
		test_find_id,
		test_symbols_search,
		test_class_name,
		test_singleton_in_box,
		test_qualified_name,
		test_method,
		test_iseq,
		test_iseq_line,
		test_heap,
		test_heap_changing,
		test_heap_freeing,
		test_heap_freeing_list,
		test_heap_empty_page,
	};
	return run_suite("ruby", tests, RCORE_COUNT(tests));
}
