/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "base/count.h"
#include "vm_suite.h"

enum { CHILD_TID = 4711, SIZE = 0x10000 };

static const uint64_t stack = 0x7f0000000000;

/* A kernel thread without a thread pointer is on this stack. */
static void put_on_stack(struct rcore_native_thread *native, uint64_t fiber)
{
	FAKE_PUT(&world.vm, fiber, fiber, stack_base, stack);
	FAKE_PUT(&world.vm, fiber, fiber, stack_size, SIZE);
	native->thread_pointer = 0;
	native->has_registers = true;
	native->registers[rcore_register_sp(EM_X86_64)] = stack + SIZE / 2;
}

static bool has_stacks(void)
{
	return rcore_has(&world.vm.ruby.layout.fiber.stack_base);
}

/*
 * The child of a fork: the thread still has its parent's id, and the core has
 * no thread pointer. The stack shows whose registers these are.
 */
START_TEST(test_forked)
{
	world_begin(_i);
	if (!has_stacks())
		return;
	put_on_stack(&world.native[0], world.running);
	world.process.crashed_tid = world.native[0].tid = CHILD_TID;
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_int_eq(world_fiber(snapshot, world.running)->tid, CHILD_TID);
	ck_assert_int_eq(snapshot->threads[0].tid, CHILD_TID);
	ck_assert(snapshot->threads[0].is_crashed);
	world_free(snapshot);

	/* An unknown kernel thread is elsewhere. */
	world.native[0].registers[rcore_register_sp(EM_X86_64)] = stack + SIZE * 2;
	snapshot = world_load();
	ck_assert_int_ne(snapshot->threads[0].tid, CHILD_TID);
	ck_assert(!snapshot->threads[0].is_crashed);
	world_free(snapshot);
}
END_TEST

/* On the stack of a thread that has a kernel thread, or of one that has ended. */
START_TEST(test_strangers)
{
	world_begin(_i);
	if (!has_stacks())
		return;
	struct rcore_native_thread *stranger = &world.native[3];
	ck_assert_int_eq(stranger->tid, STRANGER_TID);
	put_on_stack(stranger, world.running);
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_int_eq(snapshot->threads[0].tid, MAIN_TID);
	ck_assert_int_eq(world_fiber(snapshot, world.running)->tid, MAIN_TID);
	world_free(snapshot);

	FAKE_PUT(&world.vm, world.running, fiber, stack_size, 0);
	put_on_stack(stranger, world.orphan);
	FAKE_PUT(&world.vm, world.ended, thread, ec,
		 world.orphan + (uint64_t)world.vm.ruby.layout.fiber.saved_ec.offset);
	snapshot = world_load();
	ck_assert_int_eq(world_thread(snapshot, world.ended)->tid, 0);
	ck_assert_int_eq(world_fiber(snapshot, world.orphan)->tid, 0);
	world_free(snapshot);
}
END_TEST

/* A thread pointer shows which thread a kernel thread runs: here, none. */
START_TEST(test_known_pointer)
{
	world_begin(_i);
	if (!has_stacks())
		return;
	put_on_stack(&world.native[0], world.running);
	world.native[0].tid = CHILD_TID;
	world.native[0].thread_pointer = stack + 0x1000000;
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_int_ne(snapshot->threads[0].tid, CHILD_TID);
	world_free(snapshot);
}
END_TEST

/*
 * On aarch64, a thread pointer is the end of the struct to which a pthread_t
 * points. The struct of another thread may be close.
 */
START_TEST(test_pthread_of_aarch64)
{
	enum { SIZE_OF_STRUCT = 1776 }; /* of glibc 2.36 */
	world_begin(_i);
	world.process.machine = EM_AARCH64;
	for (size_t i = 0; i < WORLD_TIDS; i++) {
		world.native[i].thread_pointer += SIZE_OF_STRUCT;
		world.native[i].tid += CHILD_TID; /* unlike what the VM may have */
	}
	world.process.crashed_tid = world.native[0].tid;
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_int_eq(snapshot->threads[0].tid, MAIN_TID + CHILD_TID);
	ck_assert_int_eq(world_thread(snapshot, world.sleeper)->tid, SLEEPER_TID + CHILD_TID);
	ck_assert_int_eq(world_thread(snapshot, world.other)->tid, OTHER_TID + CHILD_TID);
	world_free(snapshot);

	/* No thread's struct is that large. */
	for (size_t i = 0; i < WORLD_TIDS; i++)
		world.native[i].thread_pointer += SIZE;
	snapshot = world_load();
	ck_assert_int_ne(snapshot->threads[0].tid, MAIN_TID + CHILD_TID);
	world_free(snapshot);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_forked, test_strangers, test_known_pointer,
				      test_pthread_of_aarch64};
	return world_run("forked", tests, RCORE_COUNT(tests));
}
