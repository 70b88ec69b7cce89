/* SPDX-License-Identifier: MIT */
/*
 * Tests that the code of a frame is found only if the frame's words belong
 * together. Those of a running thread may be of different calls.
 */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "sampler/code_private.h"
#include "ruby/iseq/frame_flags.h"
#include "vm_suite.h"

enum { METHOD = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL, RANDOM = 10000 };

static struct rcore_codes codes;
static struct rcore_stack stack;
static uint64_t ep;

static void prepare(struct rcore_ruby *ruby, void *context)
{
	ruby->global_symbols = world.vm.ruby.symbols;
	ruby->shape_list = world.vm.ruby.shapes;
	rcore_ruby_set_vm(ruby, world.vm.address);
}

static void finish(const struct rcore_ruby *ruby, void *context)
{
}

/* Makes a copy of a frame of Foo#run, and none of the values. */
static void setup(int table)
{
	world_begin(table);
	ep = fake_push(&world.vm, world.running,
		       &(struct fake_frame){.flags = METHOD,
					    .iseq = world.run,
					    .pc = 3,
					    .me_cref = world.run_method});
	struct rcore_piece *piece = &stack.pieces[RCORE_PIECE_FRAMES];
	size_t size = world.vm.ruby.layout.cfp.size;
	stack.cfp = fake_cfp(&world.vm, world.running);
	ck_assert(rcore_piece_set(piece, stack.cfp, size));
	ck_assert_int_eq(
		rcore_read(&world.vm.ruby.target.memory, stack.cfp, piece->bytes, size),
		RCORE_FAULT_NONE);
	struct rcore_profile *profile = rcore_profile_new();
	ck_assert_ptr_nonnull(profile);
	rcore_codes_init(&codes, profile, &world.vm.ruby.target.memory, &world.vm.ruby.layout,
			 prepare, finish, NULL);
}

static void teardown(void)
{
	rcore_codes_deinit(&codes);
	rcore_profile_free(codes.profile);
	rcore_stack_deinit(&stack);
}

/* Returns the frame's label, or NULL if its code was not found. */
static const char *label_with(uint64_t flags, uint64_t me_cref, uint64_t environment)
{
	struct rcore_code_frame frame;
	fake_put(&world.vm.ruby.target, ep, flags);
	fake_put(&world.vm.ruby.target, ep - 2 * sizeof(ep), me_cref);
	rcore_codes_find(&codes, &stack, stack.cfp, environment, &frame);
	ck_assert_uint_ne(frame.frame, 0);
	return frame.label;
}

START_TEST(words_of_one_call)
{
	setup(_i);
	ck_assert_pstr_eq(label_with(METHOD, world.run_method, 2), "Foo#run");
	ck_assert_uint_eq(codes.count, 1);
	/* All flags that a frame may have: VM_FRAME_FLAG_BOX_REQUIRE is one. */
	for (uint64_t flag = 0x4; flag <= 0x1000; flag <<= 1)
		if (flag != RCORE_FRAME_CFRAME)
			ck_assert_pstr_eq(label_with(METHOD | flag, world.run_method, 2 * flag),
					  "Foo#run");
	teardown();
}
END_TEST

START_TEST(words_of_two_calls)
{
	setup(_i);
	const struct {
		uint64_t flags, me_cref;
	} cases[] = {
		{METHOD, 0},
		{METHOD, world.each_method},
		{RCORE_FRAME_MAGIC_METHOD, world.run_method},
		{METHOD | RCORE_FRAME_CFRAME, world.run_method},
		{METHOD | UINT64_C(1) << 32, world.run_method},
		{RCORE_FRAME_MAGIC_BLOCK, world.run_method},
		{RCORE_FRAME_MAGIC_TOP | RCORE_ENV_LOCAL, 0},
		{RCORE_FRAME_MAGIC_EVAL | RCORE_ENV_LOCAL, 0},
		{RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL | RCORE_FRAME_CFRAME,
		 world.each_method},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++)
		ck_assert_pstr_eq(label_with(cases[i].flags, cases[i].me_cref, i), NULL);
	/* An Integer, where the flags were. */
	for (size_t i = 0; i < RANDOM; i++)
		ck_assert_pstr_eq(label_with((uint64_t)random() << 1 | 1, 0, i), NULL);
	ck_assert_uint_eq(codes.count, 0);
	teardown();
}
END_TEST

/*
 * Frames that differ only in their environment run the same code. Those of
 * which the environment is in the heap are looked up each time.
 */
START_TEST(code_of_many_places)
{
	enum { PLACES = 20 };
	setup(_i);
	for (uint64_t i = 0; i < PLACES; i++)
		ck_assert_pstr_eq(label_with(METHOD, world.run_method, i), "Foo#run");
	ck_assert_uint_eq(codes.count, 1);
	ck_assert_uint_eq(codes.looked_up, 1);
	ck_assert_uint_eq(codes.place_count, PLACES / 2);
	/* A known place is trusted until the next verification. */
	ck_assert_pstr_eq(label_with(METHOD, 0, 0), "Foo#run");
	ck_assert_pstr_eq(label_with(METHOD, 0, RCORE_CODE_IN_HEAP), NULL);
	rcore_codes_forget_places(&codes);
	ck_assert_pstr_eq(label_with(METHOD, 0, 0), NULL);
	ck_assert_uint_eq(codes.place_count, 0);

	codes.looked_up = 0;
	ck_assert_pstr_eq(label_with(METHOD, world.run_method, 0), "Foo#run");
	ck_assert_uint_eq(codes.looked_up, 0);
	rcore_codes_drop(&codes, codes.entries);
	ck_assert_uint_eq(codes.place_count, 0);
	ck_assert_pstr_eq(label_with(METHOD, world.run_method, 0), "Foo#run");
	ck_assert_uint_eq(codes.looked_up, 1);
	rcore_codes_begin_tick(&codes);
	ck_assert_uint_eq(codes.count, 1);
	teardown();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {words_of_one_call, words_of_two_calls,
				      code_of_many_places};
	return world_run("code", tests, RCORE_COUNT(tests));
}
