/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "vm/stack/exceptions.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/load.h"
#include "vm/stack/frame_values.h"
#include "vm/storage.h"
#include "vm_suite.h"

enum { WORD = 8 };

#define FIXNUM(number) ((uint64_t)(number) << 1 | 1)

static struct rcore_ruby ruby;
static struct rcore_snapshot *snapshot;

static struct fake_ruby *fake(void)
{
	return &world.vm.ruby;
}

static void put(uint64_t address, uint64_t word)
{
	fake_put(&fake()->target, address, word);
}

static uint64_t body_of(uint64_t iseq)
{
	return FAKE_GET(&world.vm, iseq, iseq, body);
}

/* Sets the variables of an iseq; a NULL name is one that the compiler added. */
static void set_locals(uint64_t iseq, const char *const *names, size_t count)
{
	uint64_t table = fake_alloc(&fake()->target, (count + 1) * WORD, 8);
	for (size_t i = 0; i < count; i++)
		put(table + i * WORD,
		    names[i] ? fake_id(fake(), names[i]) : UINT64_C(0xfffff) << 4 | 0xe);
	FAKE_PUT(&world.vm, body_of(iseq), iseq_body, local_table, table);
	FAKE_PUT(&world.vm, body_of(iseq), iseq_body, local_table_size, count);
}

/* def m(a, b = 1, *c, d, e:, f: 2, **g, &h) with a local i. */
static void set_parameters(uint64_t iseq)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", NULL, "g", "h", "i"};
	struct fake_vm *vm = &world.vm;
	uint64_t body = body_of(iseq);
	uint64_t keyword = fake_alloc(&fake()->target, fake()->layout.keyword.size, 8);
	set_locals(iseq, names, 10);
	FAKE_PUT(vm, body, iseq_body, has_opt, 1);
	FAKE_PUT(vm, body, iseq_body, has_rest, 1);
	FAKE_PUT(vm, body, iseq_body, has_post, 1);
	FAKE_PUT(vm, body, iseq_body, has_kw, 1);
	FAKE_PUT(vm, body, iseq_body, has_kwrest, 1);
	FAKE_PUT(vm, body, iseq_body, has_block, 1);
	FAKE_PUT(vm, body, iseq_body, lead_num, 1);
	FAKE_PUT(vm, body, iseq_body, opt_num, 1);
	FAKE_PUT(vm, body, iseq_body, rest_start, 2);
	FAKE_PUT(vm, body, iseq_body, post_start, 3);
	FAKE_PUT(vm, body, iseq_body, post_num, 1);
	FAKE_PUT(vm, body, iseq_body, block_start, 8);
	FAKE_PUT(vm, body, iseq_body, keyword, keyword);
	FAKE_PUT(vm, keyword, keyword, num, 2);
	FAKE_PUT(vm, keyword, keyword, required_num, 1);
	FAKE_PUT(vm, keyword, keyword, bits_start, 6);
	FAKE_PUT(vm, keyword, keyword, rest_start, 7);
}

/*
 * Pushes a frame with its variables, numbered from `first` on, below its
 * environment.
 */
static uint64_t push_frame(const struct fake_frame *of, size_t count, int first)
{
	struct fake_vm *vm = &world.vm;
	uint64_t cfp = fake_cfp(vm, world.parked);
	uint64_t sp = FAKE_GET(vm, cfp, cfp, sp);
	for (size_t i = 0; i < count; i++)
		put(sp + i * WORD, FIXNUM(first + (int)i));
	FAKE_PUT(vm, cfp, cfp, sp, sp + count * WORD);
	return fake_push(vm, world.parked, of);
}

/* The same in the heap, with a rb_env_t. */
static uint64_t make_heap_env(uint64_t iseq, uint64_t flags, uint64_t outer, size_t count,
			      int first)
{
	struct fake_vm *vm = &world.vm;
	uint64_t base = fake_alloc(&fake()->target, (count + 4) * WORD, 8);
	uint64_t ep = base + (count + 2) * WORD;
	uint64_t env =
		fake_imemo(fake(), fake()->layout.traits.imemo_env, fake()->layout.env.size);
	for (size_t i = 0; i < count; i++)
		put(base + i * WORD, FIXNUM(first + (int)i));
	put(ep - WORD, outer);
	put(ep, flags | RCORE_ENV_ESCAPED);
	put(ep + WORD, env);
	FAKE_PUT(vm, env, env, ep, ep);
	FAKE_PUT(vm, env, env, iseq, iseq);
	return ep;
}

static uint64_t push_method(size_t count, int first)
{
	return push_frame(
		&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
				     .iseq = world.run,
				     .pc = 1,
				     .self = FIXNUM(77),
				     .me_cref = world.run_method},
		count, first);
}

static uint64_t push_block(uint64_t outer, size_t count, int first)
{
	return push_frame(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_BLOCK,
					       .iseq = world.block,
					       .pc = 1,
					       .self = FIXNUM(77),
					       .outer = outer | 1},
			  count, first);
}

static struct rcore_error *load(const struct rcore_locals_options *options)
{
	snapshot = calloc(1, sizeof(*snapshot));
	rcore_ruby_init(&ruby, &fake()->target.memory, &fake()->layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ruby.global_symbols = fake()->symbols;
	ruby.shape_list = fake()->shapes;
	struct rcore_error *err =
		rcore_vm_load(&ruby, world.vm.address, &world.process, snapshot);
	return err ? err : rcore_vm_locals(&ruby, snapshot, options);
}

static void unload(void)
{
	rcore_ruby_deinit(&ruby);
	world_free(snapshot);
}

static const struct rcore_frame_values *values_of(size_t frame)
{
	const struct rcore_fiber *fiber = world_fiber(snapshot, world.parked);
	ck_assert_uint_gt(fiber->frame_count, frame);
	ck_assert_ptr_nonnull(fiber->frames[frame].values);
	return fiber->frames[frame].values;
}

static const struct rcore_locals_options everything = {
	.self = true, .arguments = true, .locals = true};

static void check_local(const struct rcore_local *local, const char *name, const char *text,
			enum rcore_parameter parameter, int level)
{
	ck_assert_pstr_eq(local->variable.name, name);
	ck_assert_pstr_eq(local->variable.value.text, text);
	ck_assert_int_eq(local->parameter, parameter);
	ck_assert_int_eq(local->level, level);
	ck_assert_int_eq(local->is_hidden, !name);
}

START_TEST(test_parameters)
{
	static const struct {
		const char *name, *text;
		enum rcore_parameter parameter;
	} wanted[] = {
		{"a", "10", RCORE_PARAMETER_REQ},    {"b", "11", RCORE_PARAMETER_OPT},
		{"c", "12", RCORE_PARAMETER_REST},   {"d", "13", RCORE_PARAMETER_REQ},
		{"e", "14", RCORE_PARAMETER_KEYREQ}, {"f", "15", RCORE_PARAMETER_KEY},
		{NULL, "16", RCORE_PARAMETER_NONE},  {"g", "17", RCORE_PARAMETER_KEYREST},
		{"h", "nil", RCORE_PARAMETER_BLOCK}, {"i", "19", RCORE_PARAMETER_NONE},
	};
	world_begin(_i);
	set_parameters(world.run);
	push_method(10, 10);
	ck_assert_ptr_null(load(&everything));
	const struct rcore_frame_values *values = values_of(0);
	ck_assert(values->has_self && values->has_arguments && values->has_locals);
	ck_assert_pstr_eq(values->self.text, "77");
	ck_assert_pstr_eq(values->problem, NULL);
	ck_assert_uint_eq(values->local_count, 10);
	for (size_t i = 0; i < 10; i++)
		check_local(&values->locals[i], wanted[i].name, wanted[i].text,
			    wanted[i].parameter, 0);
	unload();
	/* Arguments alone. */
	ck_assert_ptr_null(load(&(struct rcore_locals_options){.arguments = true}));
	ck_assert_uint_eq(values_of(0)->local_count, 8);
	ck_assert(!values_of(0)->has_self && !values_of(0)->has_locals);
	unload();
}
END_TEST

/*
 * Kinds of the passed block: a Proc, a Symbol, a block that is not an object
 * yet, or a block in C.
 */
START_TEST(test_block_parameter)
{
	static const char *const names[] = {"x", "blk"};
	world_begin(_i);
	set_locals(world.run, names, 2);
	FAKE_PUT(&world.vm, body_of(world.run), iseq_body, has_block, 1);
	FAKE_PUT(&world.vm, body_of(world.run), iseq_body, block_start, 1);
	uint64_t ep = push_method(2, 5);
	uint64_t captured = fake_alloc(&fake()->target, 3 * WORD, 8);
	put(captured + 2 * WORD, world.block);
	const struct {
		uint64_t handler, flags;
		const char *text;
	} cases[] = {
		{0, 0, "nil"},
		{captured | 1, 0, "#<Proc (not created yet) app.rb:0>"},
		{captured | 3, 0, "#<Proc (of C, not created yet)>"},
		{captured | 1, RCORE_FRAME_MODIFIED_BLOCK_PARAM, "6"},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		put(ep - WORD, cases[i].handler);
		put(ep, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL | cases[i].flags);
		ck_assert_ptr_null(load(&everything));
		check_local(&values_of(0)->locals[1], "blk", cases[i].text,
			    RCORE_PARAMETER_BLOCK, 0);
		unload();
	}
}
END_TEST

/*
 * A block in a block in a method: environments on the stack, in the heap, and
 * the method's.
 */
START_TEST(test_levels)
{
	static const char *const inner[] = {"x"}, *const outer[] = {"y", "z"};
	world_begin(_i);
	set_locals(world.run, outer, 2);
	set_locals(world.block, inner, 1);
	uint64_t method = push_method(2, 20);
	uint64_t heap = make_heap_env(world.block, RCORE_FRAME_MAGIC_BLOCK, method | 1, 1, 30);
	push_block(heap, 1, 40);
	ck_assert_ptr_null(load(&everything));
	const struct rcore_frame_values *values = values_of(0);
	ck_assert_pstr_eq(values->problem, NULL);
	ck_assert_uint_eq(values->local_count, 4);
	check_local(&values->locals[0], "x", "40", RCORE_PARAMETER_NONE, 0);
	check_local(&values->locals[1], "x", "30", RCORE_PARAMETER_NONE, 1);
	check_local(&values->locals[2], "y", "20", RCORE_PARAMETER_NONE, 2);
	check_local(&values->locals[3], "z", "21", RCORE_PARAMETER_NONE, 2);
	unload();
}
END_TEST

/*
 * While an environment moves to the heap, the word of its flags on the stack is
 * its rb_env_t.
 */
START_TEST(test_moving)
{
	static const char *const names[] = {"y"};
	world_begin(_i);
	set_locals(world.run, names, 1);
	uint64_t method = push_method(1, 20);
	uint64_t moved =
		make_heap_env(world.run, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL, 0, 1, 50);
	uint64_t env;
	ck_assert_int_eq(rcore_read_u64(&fake()->target.memory, moved + WORD, &env), 0);
	push_block(method, 0, 0);
	put(method, env);
	ck_assert_ptr_null(load(&everything));
	check_local(&values_of(0)->locals[0], "y", "50", RCORE_PARAMETER_NONE, 1);
	unload();
}
END_TEST

/*
 * Isolated by Ractor.make_shareable, from 3.0 on; before that, the bit had
 * another meaning.
 */
START_TEST(test_isolated)
{
	static const char *const names[] = {"y"};
	world_begin(_i);
	set_locals(world.run, names, 1);
	uint64_t method = make_heap_env(
		world.run, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL | RCORE_ENV_ISOLATED, 0,
		1, 20);
	push_block(method, 0, 0);
	ck_assert_ptr_null(load(&everything));
	ck_assert_int_eq(values_of(0)->locals[0].is_hidden, fake()->layout.traits.env_isolated);
	unload();
}
END_TEST

static void expect_problem(const char *words)
{
	ck_assert_ptr_null(load(&everything));
	const char *problem = values_of(0)->problem;
	ck_assert_msg(problem && strstr(problem, words), "'%s' is not in '%s'", words,
		      problem ? problem : "(none)");
	ck_assert(snapshot->incomplete);
	/* The rest is read. */
	ck_assert_pstr_eq(values_of(0)->self.text, "77");
	unload();
}

START_TEST(test_broken)
{
	static const char *const names[] = {"y"};
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t body = body_of(world.run);
	set_locals(world.run, names, 1);
	uint64_t block = push_block(push_method(1, 20), 0, 0);

	put(block - WORD, block | 1); /* a ring */
	expect_problem("or a cycle");
	put(block - WORD, (block + 5 * WORD) | 1);
	expect_problem("");
	uint64_t lost =
		make_heap_env(world.run, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL, 0, 1, 20);
	put(block - WORD, lost | 1);
	put(lost + WORD, fake_string(fake(), "no environment"));
	expect_problem("no rb_env_t");
	put(lost, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL);
	expect_problem("belongs to no frame");

	fake_vm_deinit(vm);
	world_begin(_i);
	body = body_of(world.run);
	set_locals(world.run, names, 1);
	push_method(1, 20);
	FAKE_PUT(vm, body, iseq_body, local_table_size, 0x7fffffff);
	expect_problem("locals");
	FAKE_PUT(vm, body, iseq_body, local_table_size, 1);
	FAKE_PUT(vm, body, iseq_body, lead_num, 2);
	expect_problem("it has more parameters than local variables (1)");
	FAKE_PUT(vm, body, iseq_body, lead_num, 0xffffffff);
	expect_problem("it has more parameters than local variables (1)");
	FAKE_PUT(vm, body, iseq_body, lead_num, 0);
	FAKE_PUT(vm, body, iseq_body, has_kw, 1);
	expect_problem("no table of them");
	FAKE_PUT(vm, body, iseq_body, has_kw, 0);
	FAKE_PUT(vm, body, iseq_body, local_table, 8);
	expect_problem("local_table");
}
END_TEST

/* Whichever read fails, there is an answer, and it says what is not known. */
START_TEST(test_faults)
{
	static const char *const inner[] = {"x"};
	world_begin(_i);
	set_parameters(world.run);
	set_locals(world.block, inner, 1);
	uint64_t method = push_method(10, 20);
	push_block(make_heap_env(world.block, RCORE_FRAME_MAGIC_BLOCK, method | 1, 1, 30), 1,
		   40);
	for (size_t fail_at = 1;; fail_at += 1 + fail_at / 40) {
		fake_target_fault(&fake()->target, fail_at, fail_at % 2);
		ck_assert_ptr_null(load(&everything));
		bool done = fake()->target.reads < fail_at;
		unload();
		if (done)
			break;
	}
	fake_target_fault(&fake()->target, 0, false);
}
END_TEST

/* Values at the place of an exception that are not exceptions. */
START_TEST(test_no_exceptions)
{
	const uint64_t others[] = {FIXNUM(8), 0, 0x1234, 0x14};
	world_begin(_i);
	uint64_t ec = world.parked + (uint64_t)fake()->layout.fiber.saved_ec.offset;
	for (size_t i = 0; i <= RCORE_COUNT(others); i++) {
		uint64_t value = i ? others[i - 1] : fake_imemo(fake(), 5, 40);
		FAKE_PUT(&world.vm, ec, ec, errinfo, value);
		ck_assert_ptr_null(load(&(struct rcore_locals_options){0}));
		ck_assert_ptr_null(rcore_vm_exceptions(&ruby, snapshot));
		ck_assert_uint_eq(world_fiber(snapshot, world.parked)->exception_count, 0);
		unload();
	}
}
END_TEST

START_TEST(test_id_table_of_nothing)
{
	world_begin(_i);
	uint64_t ec = world.parked + (uint64_t)fake()->layout.fiber.saved_ec.offset;
	uint64_t table = fake_alloc(&fake()->target, 64, 8);
	const struct rcore_inspect_options options = {0};
	FAKE_PUT(&world.vm, ec, ec, local_storage, table);
	ck_assert_ptr_null(load(&(struct rcore_locals_options){0}));
	ck_assert_ptr_null(rcore_vm_storage(&ruby, snapshot, &options));
	ck_assert_uint_eq(world_fiber(snapshot, world.parked)->locals.count, 0);
	unload();
	/* A table that was overwritten. */
	for (uint64_t at = 0; at < 64; at += WORD)
		put(table + at, 0x7ffffff0ffffff1);
	ck_assert_ptr_null(load(&(struct rcore_locals_options){0}));
	ck_assert_ptr_null(rcore_vm_storage(&ruby, snapshot, &options));
	ck_assert_ptr_nonnull(world_fiber(snapshot, world.parked)->locals.problem);
	unload();
}
END_TEST

START_TEST(test_fiber_locals)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &fake()->layout;
	uint64_t ec = world.parked + (uint64_t)layout->fiber.saved_ec.offset;
	uint64_t id = fake_id(fake(), "request"), table;
	if (layout->traits.local_storage_is_st) {
		table = fake_alloc(&fake()->target, layout->st_table.size, 8);
		uint64_t entry = fake_alloc(&fake()->target, layout->st_entry.size, 8);
		FAKE_PUT(vm, table, st_table, entry_power, 1);
		FAKE_PUT(vm, table, st_table, num_entries, 1);
		FAKE_PUT(vm, table, st_table, entries_bound, 1);
		FAKE_PUT(vm, table, st_table, entries, entry);
		FAKE_PUT(vm, entry, st_entry, hash, 1);
		FAKE_PUT(vm, entry, st_entry, key, id);
		FAKE_PUT(vm, entry, st_entry, record, FIXNUM(9));
	} else {
		table = fake_alloc(&fake()->target, layout->id_table.size, 8);
		uint64_t items = fake_alloc(&fake()->target, 4 * layout->id_item.size, 8);
		uint64_t item = items + 2 * layout->id_item.size;
		FAKE_PUT(vm, table, id_table, capacity, 4);
		FAKE_PUT(vm, table, id_table, count, 1);
		FAKE_PUT(vm, table, id_table, items, items);
		FAKE_PUT(vm, item, id_item, key, id >> 4);
		FAKE_PUT(vm, item, id_item, value, FIXNUM(9));
	}
	FAKE_PUT(vm, ec, ec, local_storage, table);
	ck_assert_ptr_null(load(&(struct rcore_locals_options){0}));
	ck_assert_ptr_null(
		rcore_vm_storage(&ruby, snapshot, &(struct rcore_inspect_options){0}));
	const struct rcore_variables *locals = &world_fiber(snapshot, world.parked)->locals;
	ck_assert_pstr_eq(locals->problem, NULL);
	ck_assert_uint_eq(locals->count, 1);
	ck_assert_pstr_eq(locals->items[0].name, "request");
	ck_assert_pstr_eq(locals->items[0].value.text, "9");
	unload();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_parameters,  test_block_parameter, test_levels,
		test_moving,      test_isolated,        test_broken,
		test_faults,      test_no_exceptions,   test_id_table_of_nothing,
		test_fiber_locals};
	return world_run("locals", tests, RCORE_COUNT(tests));
}
