/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "random_heap.h"
#include "fake_ivar.h"
#include "ruby_suite.h"
#include "vm/context.h"

#define PUT(base, struct_id, id, value) \
	fake_put_field(&fake.target, base, &fake.layout.struct_id.id, value)

enum { KEY_COUNT = 80, CAPACITY_LIMIT = 64 };

static uint64_t keys[KEY_COUNT];
static uint64_t random_state;

static uint64_t make_class(const char *path)
{
	struct fake_class of = {.type = RCORE_T_CLASS, .path = path, .permanent = true};
	return fake_class(&fake, &of);
}

static uint64_t make_data(const char *type_name, const char *class_name, uint64_t data)
{
	bool flagged = !rcore_has(&fake.layout.data.typed_flag);
	uint64_t value = fake_object(&fake, RCORE_T_DATA, 40);
	uint64_t type = fake_alloc(&fake.target, 128, 8);
	uint64_t name = fake_alloc(&fake.target, strlen(type_name) + 1, 8);
	fake_write(&fake.target, name, type_name, strlen(type_name) + 1);
	PUT(type, data_type, wrap_struct_name, name);
	PUT(value, basic, klass, make_class(class_name));
	PUT(value, data, typed_flag, 1);
	PUT(value, data, type, type);
	PUT(value, data, data, data);
	if (flagged)
		fake_put(&fake.target, value,
			 RCORE_T_DATA | (uint64_t)fake.layout.constant.typed_fl_is_typed_data);
	return value;
}

/*
 * Returns a Fiber whose @ruby_profiler_state is `state`, or that has none if it
 * is 0.
 */
static uint64_t make_fiber(uint64_t state)
{
	uint64_t fiber = make_data("fiber", "Fiber", 0);
	struct fake_ivar ivars[] = {
		{fake_id(&fake, "@other") | 2, 3},
		{fake_id(&fake, "@ruby_profiler_state") | 2, state},
	};
	if (state)
		fake_set_ivars(&fake, fiber, FAKE_IVAR_HEAP, ivars, 2);
	return fiber;
}

static uint64_t make_table(uint64_t capacity)
{
	uint64_t table = fake_alloc(&fake.target, 16 + capacity * 16, 8);
	fake_put(&fake.target, table + 8, capacity);
	return table;
}

static void put_slot(uint64_t table, uint64_t slot, uint64_t key, uint64_t value)
{
	fake_put(&fake.target, table + 16 + slot * 16, key);
	fake_put(&fake.target, table + 24 + slot * 16, value);
}

/* Does what the gem does; false for a full table. */
struct model {
	uint64_t capacity, size;
	uint64_t keys[CAPACITY_LIMIT], values[CAPACITY_LIMIT];
};

static bool model_put(struct model *model, uint64_t key, uint64_t value)
{
	for (uint64_t i = 0, at = key & (model->capacity - 1); i < model->capacity;
	     i++, at = (at + 1) & (model->capacity - 1)) {
		if (model->keys[at] && model->keys[at] != key)
			continue;
		model->size += !model->keys[at];
		model->keys[at] = key;
		model->values[at] = value;
		return true;
	}
	return false;
}

static const uint64_t *model_get(const struct model *model, uint64_t key)
{
	for (uint64_t i = 0, at = key & (model->capacity - 1); i < model->capacity;
	     i++, at = (at + 1) & (model->capacity - 1)) {
		if (!model->keys[at])
			return NULL;
		if (model->keys[at] == key)
			return &model->values[at];
	}
	return NULL;
}

static void model_random(struct model *model)
{
	*model = (struct model){.capacity = UINT64_C(1) << random_below(&random_state, 7)};
	uint32_t wanted = random_below(&random_state, 3)
				  ? random_below(&random_state, (uint32_t)model->capacity + 1)
				  : (uint32_t)model->capacity;
	while (model->size < wanted)
		model_put(model, keys[random_below(&random_state, KEY_COUNT)],
			  random_below(&random_state, 1 << 20) * 2 + 1);
}

static uint64_t model_write(const struct model *model)
{
	uint64_t table = make_table(model->capacity);
	fake_put(&fake.target, table, model->size);
	for (uint64_t i = 0; i < model->capacity; i++)
		put_slot(table, i, model->keys[i], model->values[i]);
	return table;
}

static void make_keys(void)
{
	char name[16];
	for (size_t i = 0; i < KEY_COUNT; i++) {
		snprintf(name, sizeof(name), "key%zu", i);
		keys[i] = fake_id(&fake, name);
		/*
		 * All kinds: local, instance, constant ... and some symbols of
		 * C.
		 */
		keys[i] |= i % 7 << 1 | i % 2;
	}
}

static void check_against(const struct model *model, const struct rcore_context *context)
{
	size_t at = 0;
	char expected[32];
	ck_assert(context->present);
	ck_assert_ptr_null(context->problem);
	ck_assert_uint_eq(context->size, model->size);
	ck_assert_uint_eq(context->capacity, model->capacity);
	ck_assert_uint_eq(context->pair_count, model->size);
	for (uint64_t slot = 0; slot < model->capacity; slot++) {
		if (!model->keys[slot])
			continue;
		const struct rcore_context_pair *pair = &context->pairs[at++];
		ck_assert_uint_eq(pair->slot, slot);
		ck_assert_uint_eq(pair->key, model->keys[slot]);
		ck_assert_uint_eq(pair->variable.value.value, model->values[slot]);
		snprintf(expected, sizeof(expected), "%lu",
			 (unsigned long)model->values[slot] / 2);
		ck_assert_str_eq(pair->variable.value.text, expected);
		ck_assert_ptr_null(pair->variable.problem);
		ck_assert_ptr_eq(rcore_context_get(context, pair->variable.name), pair);
	}
	for (size_t i = 0; i < KEY_COUNT; i++) {
		const uint64_t *value = model_get(model, keys[i]);
		const struct rcore_context_pair *pair = rcore_context_find(context, keys[i]);
		ck_assert_int_eq(value != NULL, pair != NULL);
		if (value)
			ck_assert_uint_eq(pair->variable.value.value, *value);
	}
	ck_assert_ptr_null(rcore_context_find(context, 0));
	ck_assert_ptr_null(rcore_context_get(context, "no such key"));
}

/*
 * Random tables of each capacity, including full ones, compared with the gem's
 * own way to read them.
 */
START_TEST(test_tables)
{
	begin(_i);
	make_keys();
	random_state = 20261121 + (uint64_t)_i;
	for (int round = 0; round < 60; round++) {
		struct model model;
		struct rcore_context context;
		model_random(&model);
		uint64_t state = make_data("Ruby::Profiler::State", "Ruby::Profiler::State",
					   model_write(&model));
		uint64_t fiber = make_fiber(state);
		fake_put_generic_ivars(&fake);
		read_again();
		OK(rcore_context_load(&ruby, fiber, &context));
		ck_assert_uint_eq(context.object, state);
		check_against(&model, &context);
	}
}
END_TEST

static void load(uint64_t state, struct rcore_context *context)
{
	uint64_t fiber = make_fiber(state);
	fake_put_generic_ivars(&fake);
	read_again();
	OK(rcore_context_load(&ruby, fiber, context));
}

static uint64_t wrap(uint64_t table)
{
	return make_data("Ruby::Profiler::State", "Ruby::Profiler::State", table);
}

START_TEST(test_none)
{
	begin(_i);
	struct rcore_context context;
	load((uint64_t)fake.layout.constant.qnil, &context);
	ck_assert(!context.present && !context.problem);
	ck_assert(!rcore_context_has_any(&context));
	load(0, &context);
	ck_assert(!context.present && !context.problem);
	load(wrap(0), &context); /* in use, but without any pair */
	ck_assert(context.present && !context.problem && !context.pair_count);
	load(wrap(make_table(0)), &context);
	ck_assert(context.present && !context.problem && !context.pair_count);
	load(make_data("Ruby::Profiler::Stat", "Foo", make_table(1)), &context);
	ck_assert(strstr(context.problem, "is not a Ruby::Profiler::State"));
	load(3, &context);
	ck_assert_ptr_nonnull(context.problem);
	load(fake_string(&fake, "no T_DATA"), &context);
	ck_assert_ptr_nonnull(context.problem);
	ck_assert_ptr_null(rcore_context_find(&context, keys[0]));
	/* The file of the extension is missing, so the class decides. */
	uint64_t state = wrap(0), type = 0;
	rcore_read_field(ruby.memory, state, &fake.layout.data.type, &type);
	PUT(type, data_type, wrap_struct_name, 0x10000);
	load(state, &context);
	ck_assert(context.present && !context.problem);
}
END_TEST

/*
 * Tables that were being written, or are damaged, have a problem; the rest is
 * read.
 */
START_TEST(test_torn)
{
	begin(_i);
	make_keys();
	struct rcore_context context;
	uint64_t key = keys[0], string = fake_string(&fake, "abc");
	static const uint64_t capacities[] = {3,      6, 12345, UINT64_MAX, UINT64_C(1) << 62,
					      1 << 17};
	for (size_t i = 0; i < RCORE_COUNT(capacities); i++) {
		uint64_t table = make_table(4);
		fake_put(&fake.target, table + 8, capacities[i]);
		load(wrap(table), &context);
		ck_assert(strstr(context.problem, "its capacity"));
		ck_assert_uint_eq(context.pair_count, 0);
		ck_assert_ptr_null(rcore_context_find(&context, key));
	}
	/* Written but not counted yet; counted but missing. */
	for (uint64_t size = 0; size < 3; size += 2) {
		uint64_t table = make_table(4);
		fake_put(&fake.target, table, size);
		put_slot(table, key & 3, key, string);
		load(wrap(table), &context);
		ck_assert(strstr(context.problem, "its size is"));
		ck_assert_uint_eq(context.pair_count, 1);
		ck_assert_str_eq(context.pairs[0].variable.value.text, "\"abc\"");
		ck_assert_ptr_null(context.pairs[0].variable.problem);
	}
	/*
	 * A key that is not an ID, one that no lookup finds, a value that
	 * points nowhere.
	 */
	uint64_t table = make_table(4), home = key & 3;
	fake_put(&fake.target, table, 4);
	put_slot(table, home, key, string);
	put_slot(table, (home + 1) & 3, UINT64_C(0x7f0012345678), 3);
	put_slot(table, (home + 2) & 3, key, 5);
	put_slot(table, (home + 3) & 3, keys[1], 0x10000);
	load(wrap(table), &context);
	ck_assert_ptr_null(context.problem);
	ck_assert_uint_eq(context.pair_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct rcore_context_pair *pair = &context.pairs[i];
		switch ((pair->slot - home) & 3) {
		case 0:
			ck_assert_ptr_null(pair->variable.problem);
			ck_assert_str_eq(pair->variable.value.text, "\"abc\"");
			break;
		case 1:
			ck_assert(strstr(pair->variable.problem, "is not an ID"));
			ck_assert_ptr_null(pair->variable.name);
			ck_assert_str_eq(pair->variable.value.text, "1");
			break;
		case 2:
			ck_assert(strstr(pair->variable.problem, "lookup"));
			break;
		default:
			ck_assert_ptr_nonnull(pair->variable.value.problem);
			ck_assert_str_eq(pair->variable.name, "key1");
		}
	}
	/* A table that ends too early, or is missing. */
	table = make_table(2);
	fake_put(&fake.target, table + 8, 64);
	load(wrap(table), &context);
	ck_assert_ptr_nonnull(context.problem);
	load(wrap(0x10000), &context);
	ck_assert_ptr_nonnull(context.problem);
}
END_TEST

/*
 * Any word is changed: no crash, and pairs whose own words did not change are
 * right.
 */
START_TEST(test_flips)
{
	begin(_i);
	make_keys();
	random_state = 77 + (uint64_t)_i;
	for (int round = 0; round < 40; round++) {
		struct model model;
		struct rcore_context context;
		model_random(&model);
		uint64_t table = model_write(&model);
		uint64_t fiber = make_fiber(wrap(table));
		uint64_t words = 2 + model.capacity * 2,
			 word = random_below(&random_state, (uint32_t)words);
		fake_put_generic_ivars(&fake);
		fake_put(&fake.target, table + word * 8,
			 (uint64_t)random_below(&random_state, UINT32_MAX)
				 << random_below(&random_state, 33));
		read_again();
		OK(rcore_context_load(&ruby, fiber, &context));
		ck_assert_uint_eq(context.table, table);
		if (word == 1) /* capacity */
			continue;
		for (size_t i = 0; i < context.pair_count; i++) {
			const struct rcore_context_pair *pair = &context.pairs[i];
			if (pair->slot == (word - 2) / 2)
				continue;
			ck_assert_uint_eq(pair->key, model.keys[pair->slot]);
			ck_assert_uint_eq(pair->variable.value.value, model.values[pair->slot]);
		}
	}
}
END_TEST

START_TEST(test_compare)
{
	begin(_i);
	struct rcore_context context = {.present = true, .table = 0x1000};
	OK(rcore_context_compare(&arena, &context));
	ck_assert_ptr_null(context.difference);
	context.has_thread_local = true;
	context.thread_local_table = 0x1000;
	OK(rcore_context_compare(&arena, &context));
	ck_assert_ptr_null(context.difference);
	context.thread_local_table = 0x2000;
	OK(rcore_context_compare(&arena, &context));
	ck_assert(strstr(context.difference, "0x2000"));
	context.thread_local_table = 0;
	OK(rcore_context_compare(&arena, &context));
	ck_assert(strstr(context.difference, "NULL"));
}
END_TEST

/* Whichever read fails: the right pair, or a problem. */
START_TEST(test_faults)
{
	begin(_i);
	make_keys();
	random_state = 5;
	struct model model;
	struct rcore_context clean, faulty;
	do
		model_random(&model);
	while (model.size < 3);
	load(wrap(model_write(&model)), &clean);
	uint64_t fiber = make_fiber(clean.object);
	fake_put_generic_ivars(&fake);
	read_again();
	fake_target_fault(&fake.target, 0, false);
	OK(rcore_context_load(&ruby, fiber, &clean));
	size_t reads = fake.target.reads;
	check_against(&model, &clean);
	for (size_t at = 1; at <= reads * 2; at++) {
		read_again();
		fake_target_fault(&fake.target, (at + 1) / 2, at % 2);
		OK(rcore_context_load(&ruby, fiber, &faulty));
		ck_assert(faulty.problem || faulty.pair_count == model.size);
		for (size_t i = 0; i < faulty.pair_count; i++) {
			const struct rcore_context_pair *pair = &faulty.pairs[i];
			ck_assert_uint_eq(pair->variable.value.value, model.values[pair->slot]);
			ck_assert(pair->variable.name || pair->variable.problem);
		}
	}
	fake_target_fault(&fake.target, 0, false);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_tables, test_none, test_torn, test_flips, test_compare, test_faults,
	};
	return run_suite("context", tests, RCORE_COUNT(tests));
}
