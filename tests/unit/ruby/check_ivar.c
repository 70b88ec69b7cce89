/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "ruby/object/data.h"
#include "ruby/object/ivar.h"
#include "ruby/object/shape.h"
#include "ruby/object/st_table.h"
#include "ruby_suite.h"

#define PUT(base, struct_id, id, value) \
	fake_put_field(&fake.target, base, &fake.layout.struct_id.id, value)

static uint64_t instance_id(const char *name)
{
	return fake_id(&fake, name) | 1 << 1; /* RUBY_ID_INSTANCE */
}

/* One object of each kind, with its variables. */
struct holder {
	const char *what;
	uint64_t object;
	struct fake_ivar ivars[24];
	size_t count;
};
static struct holder holders[64];
static size_t holder_count;
static uint64_t first_id, second_id, hidden_id;

static void hold(const char *what, uint64_t object, enum fake_ivar_storage storage,
		 size_t count)
{
	struct holder *holder = &holders[holder_count++];
	*holder = (struct holder){.what = what, .object = object, .count = count};
	for (size_t i = 0; i < count; i++) {
		uint64_t id = i == 0   ? first_id
			      : i == 1 ? second_id
			      : i == 2 ? hidden_id
				       : instance_id("@more");
		holder->ivars[i] = (struct fake_ivar){id, 1001 + 2 * i + 100 * holder_count};
	}
	fake_set_ivars(&fake, object, storage, holder->ivars, count);
}

/*
 * Each object has a class of its own, which up to 3.1 says where the variables
 * are. Every other one also has a singleton class.
 */
static uint64_t make(enum rcore_type type, size_t size)
{
	struct fake_class plain = {.type = RCORE_T_CLASS, .path = "Foo", .permanent = true};
	struct fake_class singleton = {.type = RCORE_T_CLASS, .is_singleton = true};
	uint64_t klass = fake_class(&fake, &plain);
	uint64_t object = fake_object(&fake, type, size);
	if (holder_count % 2) {
		uint64_t other = fake_class(&fake, &singleton);
		uint64_t ext = other + fake.layout.klass.size;
		PUT(other, klass, super, klass);
		if (!rcore_has(&fake.layout.klass.super))
			PUT(ext, classext, super, klass);
		klass = other;
	}
	PUT(object, basic, klass, klass);
	return object;
}

static uint64_t make_data(bool embedded, const char *type_name, uint64_t data)
{
	uint64_t value = make(RCORE_T_DATA, 64);
	uint64_t type = fake_alloc(&fake.target, 128, 8);
	uint64_t name = fake_alloc(&fake.target, strlen(type_name) + 1, 8);
	fake_write(&fake.target, name, type_name, strlen(type_name) + 1);
	PUT(type, data_type, wrap_struct_name, name);
	bool flagged = !rcore_has(&fake.layout.data.typed_flag);
	PUT(value, data, typed_flag, 1 | (embedded ? 2 : 0));
	PUT(value, data, type, type | (flagged && embedded));
	PUT(value, data, data, data);
	if (flagged)
		fake_put(&fake.target, value,
			 RCORE_T_DATA | (uint64_t)fake.layout.constant.typed_fl_is_typed_data);
	return value;
}

static void make_holders(void)
{
	holder_count = 0;
	first_id = instance_id("@first");
	second_id = instance_id("@second");
	hidden_id = fake_id(&fake, "hidden");
	hold("object", make(RCORE_T_OBJECT, 40), FAKE_IVAR_EMBEDDED, 3);
	hold("one", make(RCORE_T_OBJECT, 40), FAKE_IVAR_EMBEDDED, 1);
	hold("heap", make(RCORE_T_OBJECT, 40), FAKE_IVAR_HEAP, 12);
	hold("complex", make(RCORE_T_OBJECT, 40), FAKE_IVAR_TOO_COMPLEX, 14);
	hold("data", make_data(false, "fiber", 0x1230), FAKE_IVAR_EMBEDDED, 2);
	hold("embedded", make_data(true, "thing", 0x1230), FAKE_IVAR_HEAP, 5);
	hold("complex data", make_data(false, "fiber", 0), FAKE_IVAR_TOO_COMPLEX, 3);
	hold("string", make(RCORE_T_STRING, 40), FAKE_IVAR_EMBEDDED, 4);
	struct fake_class klass = {.type = RCORE_T_CLASS}, module = {.type = RCORE_T_MODULE};
	hold("class", fake_class(&fake, &klass), FAKE_IVAR_HEAP, 4);
	hold("module", fake_class(&fake, &module), FAKE_IVAR_TOO_COMPLEX, 3);
	for (int i = 0; i < 40; i++) /* enough for bins */
		hold("array", make(RCORE_T_ARRAY, 40), FAKE_IVAR_HEAP, 1);
	fake_put_generic_ivars(&fake);
}

START_TEST(test_get)
{
	begin(_i);
	make_holders();
	for (size_t i = 0; i < holder_count; i++) {
		struct holder *holder = &holders[i];
		uint64_t value = 0;
		bool found = false;
		OK(rcore_ivar_get(&ruby, holder->object, "@first", &found, &value));
		ck_assert_msg(found, "%s", holder->what);
		ck_assert_uint_eq(value, holder->ivars[0].value);
		OK(rcore_ivar_get(&ruby, holder->object, "@second", &found, &value));
		ck_assert_msg(found == (holder->count > 1), "%s", holder->what);
		if (found)
			ck_assert_uint_eq(value, holder->ivars[1].value);
		OK(rcore_ivar_get(&ruby, holder->object, "hidden", &found, &value));
		ck_assert_msg(found == (holder->count > 2), "%s", holder->what);
		if (found)
			ck_assert_uint_eq(value, holder->ivars[2].value);
		OK(rcore_ivar_get(&ruby, holder->object, "@hidden", &found, &value));
		ck_assert(!found);
		OK(rcore_ivar_get(&ruby, holder->object, "first", &found, &value));
		ck_assert(!found);
	}
}
END_TEST

START_TEST(test_all)
{
	begin(_i);
	make_holders();
	ck_assert(rcore_ivar_is_visible(&ruby, first_id));
	ck_assert(!rcore_ivar_is_visible(&ruby, hidden_id));
	ck_assert(!rcore_ivar_is_visible(&ruby, '+'));
	for (size_t i = 0; i < holder_count; i++) {
		struct holder *holder = &holders[i];
		struct rcore_ivars ivars;
		OK(rcore_ivars(&ruby, holder->object, 100, &ivars));
		ck_assert_uint_eq(ivars.count, holder->count);
		ck_assert(!ivars.truncated);
		for (size_t j = 0; j < holder->count; j++) {
			ck_assert_uint_eq(ivars.items[j].id, holder->ivars[j].id);
			ck_assert_uint_eq(ivars.items[j].value, holder->ivars[j].value);
		}
		free(ivars.items);
		OK(rcore_ivars(&ruby, holder->object, 2, &ivars));
		ck_assert_uint_eq(ivars.count, holder->count < 2 ? holder->count : 2);
		ck_assert(ivars.truncated == (holder->count > 2));
		free(ivars.items);
	}
}
END_TEST

/* Objects without variables, and values that are not objects. */
START_TEST(test_none)
{
	begin(_i);
	make_holders();
	static const enum rcore_type types[] = {RCORE_T_STRING, RCORE_T_ARRAY, RCORE_T_HASH,
						RCORE_T_DATA};
	struct rcore_ivars ivars;
	uint64_t value;
	bool found = true;
	for (size_t i = 0; i < RCORE_COUNT(types); i++) {
		uint64_t object = fake_object(&fake, types[i], 40);
		OK(rcore_ivars(&ruby, object, 100, &ivars));
		ck_assert_uint_eq(ivars.count, 0);
		OK(rcore_ivar_get(&ruby, object, "@first", &found, &value));
		ck_assert(!found);
	}
	static const enum rcore_type freed[] = {RCORE_T_NONE, RCORE_T_MOVED, RCORE_T_ZOMBIE,
						RCORE_T_ICLASS, RCORE_T_IMEMO};
	for (size_t i = 0; i < RCORE_COUNT(freed); i++) {
		uint64_t object = fake_object(&fake, freed[i], 40);
		ck_assert_int_eq(code(rcore_ivars(&ruby, object, 100, &ivars)),
				 RCORE_ERROR_CORRUPT);
	}
	ck_assert_int_eq(code(rcore_ivars(&ruby, 3, 100, &ivars)), RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(code(rcore_ivars(&ruby, 0x10000, 100, &ivars)), RCORE_ERROR_FAULT);
}
END_TEST

/* A variable that was removed is Qundef up to 3.1. */
START_TEST(test_removed)
{
	begin(_i);
	make_holders();
	struct holder *holder = &holders[2]; /* heap */
	uint64_t values = 0, value;
	bool found = true;
	rcore_read_field(ruby.memory, holder->object, &fake.layout.object.ivptr, &values);
	fake_put(&fake.target, values, (uint64_t)fake.layout.constant.qundef);
	OK(rcore_ivar_get(&ruby, holder->object, "@first", &found, &value));
	ck_assert(!found);
	struct rcore_ivars ivars;
	OK(rcore_ivars(&ruby, holder->object, 100, &ivars));
	ck_assert_uint_eq(ivars.count, holder->count - 1);
	ck_assert_uint_eq(ivars.items[0].id, second_id);
	free(ivars.items);
}
END_TEST

/* This object has a problem; the others are not affected. */
START_TEST(test_lost_generic)
{
	begin(_i);
	make_holders();
	uint64_t value;
	bool found = false;
	uint64_t lost = fake_object(&fake, RCORE_T_ARRAY, 40);
	bool flagged = rcore_has(&fake.layout.gen_ivtbl.ivptr);
	uint64_t flags = RCORE_T_ARRAY;
	flags |= flagged ? (uint64_t)fake.layout.constant.fl_exivar : UINT64_C(3) << 32;
	fake_put(&fake.target, lost, flags);
	uint64_t in_table = holders[7].object; /* string */
	/* This object cannot show where the table is, but others in it do. */
	ck_assert_int_eq(code(rcore_ivar_get(&ruby, lost, "@first", &found, &value)),
			 RCORE_ERROR_CORRUPT);
	ck_assert_uint_eq(ruby.statics.generic_ivars, fake.statics + 8);
	OK(rcore_ivar_get(&ruby, in_table, "@first", &found, &value));
	ck_assert(found);

	/* What was found once is not searched again. */
	struct rcore_statics statics = ruby.statics;
	read_again();
	ruby.statics.generic_ivars = statics.generic_ivars;
	ruby.statics.shape_tree = statics.shape_tree;
	ruby.statics.writable_count = 0;
	OK(rcore_ivar_get(&ruby, in_table, "@first", &found, &value));
	ck_assert(found);

	/* One other object is not enough, until it is looked for itself. */
	uint64_t table, record;
	ck_assert_int_eq(rcore_read_u64(ruby.memory, fake.statics + 8, &table),
			 RCORE_FAULT_NONE);
	OK(rcore_st_find_number(&ruby, table, in_table, &record, &found));
	read_again();
	const struct fake_ivar single = {in_table, record};
	fake_put(&fake.target, fake.statics + 8, fake_st_table(&fake, &single, 1, 0));
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(code(rcore_ivar_get(&ruby, lost, "@first", &found, &value)),
				 RCORE_ERROR_FAULT);
	ck_assert_int_eq(code(rcore_ivar_get(&ruby, in_table, "@first", &found, &value)),
			 RCORE_ERROR_FAULT);
	rcore_statics_search_again(&ruby.statics);
	OK(rcore_ivar_get(&ruby, in_table, "@first", &found, &value));
	ck_assert(found);

	/* A table of something else does not pass the check. */
	read_again();
	fake_put(&fake.target, fake.statics + 8, 0);
	struct fake_ivar other[] = {{in_table, 0x1230}, {lost, 0x1240}, {0x10000, 0x1250}};
	fake_put(&fake.target, fake.statics, fake_st_table(&fake, other, 3, 0));
	ck_assert_int_eq(code(rcore_ivar_get(&ruby, in_table, "@first", &found, &value)),
			 RCORE_ERROR_FAULT);
}
END_TEST

/* Memory that counts how often it is read. */
struct counted_memory {
	struct rcore_memory memory;
	struct rcore_memory *below;
	size_t reads;
};

static enum rcore_fault read_counted(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	struct counted_memory *counted = (struct counted_memory *)memory;
	counted->reads++;
	return rcore_read(counted->below, address, buffer, size);
}

/* A search tries thousands of words that lead to no table. */
static size_t reads_of_find(uint64_t table, enum rcore_error_code wanted)
{
	struct counted_memory counted = {{.read = read_counted}, ruby.memory, 0};
	uint64_t record;
	bool found;
	ruby.memory = &counted.memory;
	ck_assert_int_eq(code(rcore_st_find_number(&ruby, table, 40, &record, &found)), wanted);
	ruby.memory = counted.below;
	return counted.reads;
}

/* Compared with a search from the first entry to the last. */
START_TEST(test_st_find)
{
	begin(_i);
	static const size_t counts[] = {0, 1, 15, 16, 17, 64, 200, 1000};
	struct fake_ivar *entries = calloc(1000, sizeof(*entries));
	for (size_t i = 0; i < RCORE_COUNT(counts); i++) {
		size_t count = counts[i], deleted = count / 3;
		for (size_t j = 0; j < count; j++)
			entries[j] = (struct fake_ivar){(j * j + 7) * 40, j + 1};
		uint64_t table = fake_st_table(&fake, entries, count, deleted);
		for (size_t j = 0; j < count; j++) {
			uint64_t record = 0;
			bool found = false;
			OK(rcore_st_find_number(&ruby, table, entries[j].id, &record, &found));
			ck_assert_int_eq(found, j >= deleted);
			if (found)
				ck_assert_uint_eq(record, j + 1);
			OK(rcore_st_find_number(&ruby, table, entries[j].id + 8, &record,
						&found));
			ck_assert(!found);
		}
	}
	/* No empty bin, and impossible lengths. */
	for (size_t j = 0; j < 100; j++)
		entries[j] = (struct fake_ivar){(j + 1) * 40, j};
	uint64_t table = fake_st_table(&fake, entries, 100, 0), bins = 0;
	rcore_read_field(ruby.memory, table, &fake.layout.st_table.bins, &bins);
	for (uint64_t j = 0; j < 256; j += 8)
		fake_put(&fake.target, bins + j, 0x0101010101010101);
	ck_assert_uint_le(reads_of_find(table, RCORE_ERROR_LIMIT), 256 + 16);
	/* 100 entries have room for 128, and 256 bins of one byte. */
	for (uint64_t power = 0; power < 256; power++) {
		PUT(table, st_table, bin_power, power);
		if (power != 8)
			ck_assert_uint_le(reads_of_find(table, RCORE_ERROR_CORRUPT), 6);
	}
	PUT(table, st_table, bin_power, 8);
	for (uint64_t size = 1; size < 256; size++) {
		PUT(table, st_table, size_ind, size);
		ck_assert_uint_le(reads_of_find(table, RCORE_ERROR_CORRUPT), 6);
	}
	free(entries);
}
END_TEST

/* Cycles, shapes past the end, indices without a value. */
START_TEST(test_broken_shapes)
{
	begin(_i);
	if (!fake.layout.traits.shapes)
		return;
	make_holders();
	struct rcore_ivars ivars;
	uint64_t object = holders[0].object, flags = 0, parent = 0;
	rcore_read_u64(ruby.memory, object, &flags);
	uint32_t id = rcore_shape_id(flags);
	uint64_t shape = fake.shapes + id * fake.layout.shape.size;
	struct rcore_shape read;
	OK(rcore_shape(&ruby, id, &read));
	ck_assert(read.adds_ivar && !read.is_root && !read.is_too_complex);
	ck_assert_uint_eq(read.edge, hidden_id);
	ck_assert_uint_eq(read.index, 2);
	OK(rcore_shape(&ruby, 0, &read));
	ck_assert(read.is_root);

	rcore_read_field(ruby.memory, shape, &fake.layout.shape.parent_id, &parent);
	uint64_t above = fake.shapes + parent * fake.layout.shape.size;
	PUT(above, shape, parent_id, id);
	ck_assert_int_eq(code(rcore_ivars(&ruby, object, SIZE_MAX, &ivars)), RCORE_ERROR_LIMIT);
	free(ivars.items);
	PUT(shape, shape, parent_id, id);
	ck_assert_int_eq(code(rcore_ivars(&ruby, object, 100, &ivars)), RCORE_ERROR_CORRUPT);
	PUT(shape, shape, parent_id, 0);
	PUT(shape, shape, next_index, 0);
	ck_assert_int_eq(code(rcore_ivars(&ruby, object, 100, &ivars)), RCORE_ERROR_CORRUPT);
	PUT(shape, shape, next_index, 0xffff);
	ck_assert_int_eq(code(rcore_ivars(&ruby, object, 100, &ivars)), RCORE_ERROR_FAULT);
	free(ivars.items);
	fake_write(&fake.target, object + 4, &(uint32_t){(1u << 19) - 1}, 4);
	ck_assert_int_eq(code(rcore_ivars(&ruby, object, 100, &ivars)), RCORE_ERROR_FAULT);
}
END_TEST

START_TEST(test_data)
{
	begin(_i);
	struct rcore_data data;
	bool same = false;
	uint64_t at = 0;
	uint64_t value = make_data(false, "fiber", 0x1230);
	OK(rcore_data(&ruby, value, &data));
	ck_assert(data.is_typed && !data.is_embedded);
	ck_assert_str_eq(data.type_name, "fiber");
	ck_assert_uint_eq(data.data, 0x1230);
	OK(rcore_data_is(&ruby, value, "fiber", &same, &at));
	ck_assert(same);
	ck_assert_uint_eq(at, 0x1230);
	OK(rcore_data_is(&ruby, value, "fibe", &same, NULL));
	ck_assert(!same);

	value = make_data(true, "embedded", 0x1230);
	OK(rcore_data(&ruby, value, &data));
	ck_assert(data.is_typed && data.is_embedded);
	ck_assert_str_eq(data.type_name, "embedded");
	ck_assert_uint_eq(data.data, value + 32);

	/* Untyped: a dfree instead of typed_flag. */
	value = fake_object(&fake, RCORE_T_DATA, 40);
	PUT(value, data, typed_flag, 0x7f0000001000);
	PUT(value, data, data, 0x4560);
	OK(rcore_data(&ruby, value, &data));
	ck_assert(!data.is_typed && !data.is_embedded);
	ck_assert_uint_eq(data.data, 0x4560);
	ck_assert_ptr_null(data.type_name);
	OK(rcore_data_is(&ruby, value, "fiber", &same, &at));
	ck_assert(!same);

	/* If a type cannot be read, the object has a problem. */
	value = make_data(false, "fiber", 0x1230);
	PUT(value, data, type, 0x10000);
	OK(rcore_data(&ruby, value, &data));
	ck_assert_ptr_null(data.type_name);
	ck_assert_ptr_nonnull(data.problem);
	ck_assert_int_eq(code(rcore_data_is(&ruby, value, "fiber", &same, &at)),
			 RCORE_ERROR_FAULT);
	value = fake_string(&fake, "no T_DATA");
	ck_assert_int_eq(code(rcore_data(&ruby, value, &data)), RCORE_ERROR_CORRUPT);
}
END_TEST

START_TEST(test_real_class)
{
	begin(_i);
	uint64_t klass;
	make_holders();
	struct rcore_class_name name;
	for (size_t i = 0; i < 8; i++) {
		rcore_read_field(ruby.memory, holders[i].object, &fake.layout.basic.klass,
				 &klass);
		OK(rcore_real_class(&ruby, klass, &klass));
		OK(rcore_class_name(&ruby, klass, &name));
		ck_assert_str_eq(name.path, "Foo");
	}
	struct fake_class singleton = {.type = RCORE_T_CLASS, .is_singleton = true};
	uint64_t ring = fake_class(&fake, &singleton);
	PUT(ring, klass, super, ring);
	if (!rcore_has(&fake.layout.klass.super))
		PUT(ring + fake.layout.klass.size, classext, super, ring);
	ck_assert_int_eq(code(rcore_real_class(&ruby, ring, &klass)), RCORE_ERROR_LIMIT);
	ck_assert_int_eq(code(rcore_real_class(&ruby, holders[0].object, &klass)),
			 RCORE_ERROR_CORRUPT);
}
END_TEST

/*
 * Whichever read fails, the result is the right value or an error, never
 * another value.
 */
START_TEST(test_faults)
{
	begin(_i);
	make_holders();
	size_t objects = 10;
	for (size_t i = 0; i < objects; i++) {
		struct holder *holder = &holders[i];
		struct rcore_ivars ivars;
		fake_target_fault(&fake.target, 0, false);
		read_again();
		OK(rcore_ivars(&ruby, holder->object, 100, &ivars));
		free(ivars.items);
		size_t reads = fake.target.reads;
		for (size_t at = 1; at <= reads * 2; at++) {
			uint64_t value = 0;
			bool found = false;
			read_again();
			fake_target_fault(&fake.target, (at + 1) / 2, at % 2);
			int failed = code(rcore_ivars(&ruby, holder->object, 100, &ivars));
			ck_assert(failed || ivars.count == holder->count);
			for (size_t j = 0; j < ivars.count; j++)
				ck_assert_uint_eq(ivars.items[j].value, holder->ivars[j].value);
			free(ivars.items);
			read_again();
			fake_target_fault(&fake.target, (at + 1) / 2, at % 2);
			failed = code(rcore_ivar_get(&ruby, holder->object, "@first", &found,
						     &value));
			ck_assert(failed || (found && value == holder->ivars[0].value));
		}
	}
	fake_target_fault(&fake.target, 0, false);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_get,     test_all,           test_none, test_removed,    test_lost_generic,
		test_st_find, test_broken_shapes, test_data, test_real_class, test_faults,
	};
	return run_suite("ivar", tests, RCORE_COUNT(tests));
}
