/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ruby/inspect/inspect.h"
#include "vm_suite.h"

#include "base/count.h"

START_TEST(test_broken_fiber_list)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!vm->ruby.layout.traits.fibers_listed)
		return;
	uint64_t node = FAKE_GET(vm, world.created, fiber, jit_cont);
	uint64_t next = FAKE_GET(vm, node, jit_cont, next);
	struct rcore_snapshot *snapshot;

	/* The list has a cycle; the heap has the fibers with objects. */
	FAKE_PUT(vm, node, jit_cont, next, node);
	snapshot = world_load_broken("fiber list is broken");
	ck_assert_str_eq(snapshot->fiber_source, "jit_cont list, then heap walk");
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	world_free(snapshot);

	/* The list is cut in two, and both ends look right. */
	FAKE_PUT(vm, node, jit_cont, next, 0);
	FAKE_PUT(vm, next, jit_cont, prev, 0);
	snapshot = world_load_broken("is not on the VM's fiber list");
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	world_free(snapshot);

	/* The list is whole again, but a fiber's node is wrong. */
	FAKE_PUT(vm, node, jit_cont, next, next);
	FAKE_PUT(vm, next, jit_cont, prev, node);
	FAKE_PUT(vm, world.running, fiber, jit_cont, 0x10);
	world_free(world_load_broken("is not on the VM's fiber list"));
}
END_TEST

/* A parked fiber is being removed from the list: all others are found. */
START_TEST(test_leaving_fiber)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!vm->ruby.layout.traits.fibers_listed)
		return;
	const uint64_t fibers[] = {world.created, world.parked};
	for (size_t i = 0; i < 2; i++) {
		uint64_t node = FAKE_GET(vm, fibers[i], fiber, jit_cont);
		uint64_t newer = FAKE_GET(vm, node, jit_cont, prev);
		uint64_t older = FAKE_GET(vm, node, jit_cont, next);
		ck_assert(newer && older);
		FAKE_PUT(vm, newer, jit_cont, next, older);
		struct rcore_snapshot *snapshot = world_load();
		ck_assert_str_eq(snapshot->fiber_source, "jit_cont list");
		ck_assert_uint_eq(snapshot->problem_count, 0);
		ck_assert_uint_eq(snapshot->fiber_count, 7);
		for (size_t j = 0; j < snapshot->fiber_count; j++)
			ck_assert_uint_ne(snapshot->fibers[j].address, fibers[i]);
		world_free(snapshot);
		FAKE_PUT(vm, newer, jit_cont, next, node);
	}
}
END_TEST

static void inspects_as(struct rcore_ruby *ruby, uint64_t object, const char *ending)
{
	struct rcore_value result = {0};
	struct rcore_error *err = rcore_inspect(ruby, object, NULL, &result);
	ck_assert_msg(!err && !result.problem, "%s", err ? err->message : result.problem);
	size_t length = strlen(result.text), size = strlen(ending);
	ck_assert_msg(length > size && !strcmp(result.text + length - size, ending), "%s",
		      result.text);
}

/* In 3.0, nil is in the place of a fiber that has yielded since. */
START_TEST(test_inspect_resuming)
{
	world_begin(_i);
	struct rcore_snapshot *snapshot = world_load_whole();
	struct fake_ruby *fake = &world.vm.ruby;
	struct rcore_ruby ruby;
	rcore_ruby_init(&ruby, &fake->target.memory, &fake->layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ruby.global_symbols = fake->symbols;
	bool is_object = fake->layout.traits.resuming_object;
	uint64_t object = FAKE_GET(&world.vm, world.parked, fiber, self);
	if (rcore_has(&fake->layout.fiber.resuming_fiber)) {
		FAKE_PUT(&world.vm, world.parked, fiber, resuming_fiber,
			 is_object ? (uint64_t)fake->layout.constant.qnil : 0);
		inspects_as(&ruby, object, " (suspended)>");
		FAKE_PUT(&world.vm, world.parked, fiber, resuming_fiber,
			 is_object ? object : world.parked);
		inspects_as(&ruby, object, " (suspended by resuming)>");
	}
	rcore_ruby_deinit(&ruby);
	world_free(snapshot);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_broken_fiber_list, test_leaving_fiber,
				      test_inspect_resuming};
	return world_run("fiber list", tests, RCORE_COUNT(tests));
}
