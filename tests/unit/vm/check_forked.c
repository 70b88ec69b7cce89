/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "base/count.h"
#include "vm_suite.h"

/*
 * The child of a fork: the thread still has its parent's id, and the core has
 * no thread pointer. The stack tells whose the registers are.
 */
START_TEST(test_forked)
{
	enum { CHILD_TID = 4711 };
	static const uint64_t size = 0x10000, stack = 0x7f0000000000;
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has(&vm->ruby.layout.fiber.stack_base))
		return;
	FAKE_PUT(vm, world.running, fiber, stack_base, stack);
	FAKE_PUT(vm, world.running, fiber, stack_size, size);
	world.process.crashed_tid = world.native[0].tid = CHILD_TID;
	world.native[0].thread_pointer = 0;
	world.native[0].has_registers = true;
	world.native[0].registers[rcore_register_sp(EM_X86_64)] = stack + size / 2;
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_int_eq(world_fiber(snapshot, world.running)->tid, CHILD_TID);
	ck_assert_int_eq(snapshot->threads[0].tid, CHILD_TID);
	ck_assert(snapshot->threads[0].is_crashed);
	world_free(snapshot);

	/* An unknown kernel thread is elsewhere. */
	world.native[0].registers[rcore_register_sp(EM_X86_64)] = stack + size * 2;
	snapshot = world_load();
	ck_assert_int_ne(snapshot->threads[0].tid, CHILD_TID);
	ck_assert(!snapshot->threads[0].is_crashed);
	world_free(snapshot);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_forked};
	return world_run("forked", tests, RCORE_COUNT(tests));
}
