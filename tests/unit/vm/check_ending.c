/* SPDX-License-Identifier: MIT */
#include "vm_suite.h"

#include "base/count.h"
#include "vm/find/find.h"

/* A thread that ends is in no list, and still runs its last fiber. */
START_TEST(test_ending)
{
	static const enum rcore_fiber_status statuses[] = {RCORE_FIBER_SUSPENDED,
							   RCORE_FIBER_RESUMED};
	world_begin(_i);
	bool saves = rcore_has(&world.vm.ruby.layout.fiber.context_stack_pointer);
	for (size_t i = 0; saves && i < RCORE_COUNT(statuses); i++) {
		FAKE_PUT(&world.vm, world.orphan, fiber, status, statuses[i]);
		FAKE_PUT(&world.vm, world.orphan, fiber, context_stack_pointer, 0x7f0000000000);
		struct rcore_snapshot *snapshot = world_load_whole();
		ck_assert(world_fiber(snapshot, world.orphan)->is_parked == !i);
		world_free(snapshot);
	}
}
END_TEST

/*
 * rb_vm_living_threads_init() empties the list of ractors, and leaves its
 * counter.
 */
START_TEST(test_freed)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	struct rcore_memory *memory = &vm->ruby.target.memory;
	uint64_t head = vm->address + (uint64_t)layout->vm.ractor_set.offset;
	ck_assert(!rcore_vm_is_freed(memory, layout, vm->address));
	if (!rcore_has(&layout->vm.ractor_set))
		return;
	fake_put(&vm->ruby.target, head, head);
	fake_put(&vm->ruby.target, head + 8, head);
	ck_assert(rcore_vm_is_freed(memory, layout, vm->address));
	/* One that is being made. */
	FAKE_PUT(vm, vm->address, vm, ractor_count, 0);
	ck_assert(!rcore_vm_is_freed(memory, layout, vm->address));
	ck_assert(!rcore_vm_is_freed(memory, layout, 0));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_ending, test_freed};
	return world_run("ending", tests, RCORE_COUNT(tests));
}
