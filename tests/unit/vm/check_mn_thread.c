/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "base/count.h"
#include "vm_suite.h"

/* Threads that run as coroutines of kernel threads: M:N threads, since 3.3. */

static const uint64_t stack_size = 0x100000, stack_top = 0x7f0000200000;

/* Adds a coroutine to a thread; returns the address of its context. */
static uint64_t put_context(uint64_t thread)
{
	struct fake_vm *vm = &world.vm;
	uint64_t context = fake_alloc(&vm->ruby.target, 64, 8);
	FAKE_PUT(vm, thread, thread, sched_context, context);
	return context;
}

/*
 * Before a coroutine starts, its stack pointer is first whatever malloc() left
 * there, then the top of the stack, then an address just below.
 */
START_TEST(test_being_filled)
{
	const struct {
		uint64_t sp;
		bool is_parked;
	} states[] = {
		{0x5550003d2a4a, false}, {stack_top, false},
		{stack_top - 8, false},  {stack_top - 16, false},
		{stack_top - 64, true},  {stack_top - stack_size / 2, true},
	};
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has(&vm->ruby.layout.thread.sched_context))
		return;
	uint64_t context = put_context(world.sleeper);
	uint64_t ec = FAKE_GET(vm, world.sleeper, thread, ec);
	FAKE_PUT(vm, ec, ec, machine_stack_start, stack_top);
	FAKE_PUT(vm, ec, ec, machine_stack_maxsize, stack_size);
	FAKE_PUT(vm, world.sleeper, thread, nt, 0);
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		FAKE_PUT(vm, context, coroutine, stack_pointer, states[i].sp);
		struct rcore_snapshot *snapshot = world_load();
		const struct rcore_fiber *fiber =
			world_fiber(snapshot, fake_current_fiber(vm, world.sleeper));
		ck_assert(fiber->is_parked == states[i].is_parked);
		world_free(snapshot);
	}
}
END_TEST

/*
 * A thread that has ended, and is in no list any more, runs its last functions.
 */
START_TEST(test_last_functions)
{
	enum { STRANGER = 3 };
	const uint64_t saved = stack_top - 64;
	const struct {
		uint64_t sp;
		int tid;
	} states[] = {
		{saved - 0x200, STRANGER_TID},
		{saved + 0x20, STRANGER_TID},
		{saved - stack_size, 0},
		{saved + stack_size, 0},
	};
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has(&vm->ruby.layout.thread.sched_context))
		return;
	FAKE_PUT(vm, put_context(world.ended), coroutine, stack_pointer, saved);
	FAKE_PUT(vm, world.orphan, fiber, status, RCORE_FIBER_TERMINATED);
	FAKE_PUT(vm, world.orphan, fiber, stack_base, 0);
	uint64_t ec = world.orphan + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
	FAKE_PUT(vm, ec, ec, machine_stack_maxsize, stack_size);
	ck_assert_int_eq(world.native[STRANGER].tid, STRANGER_TID);
	world.native[STRANGER].has_registers = true;
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		world.native[STRANGER].registers[rcore_register_sp(EM_X86_64)] = states[i].sp;
		struct rcore_snapshot *snapshot = world_load();
		ck_assert_int_eq(world_fiber(snapshot, world.orphan)->tid, states[i].tid);
		world_free(snapshot);
	}
}
END_TEST

/*
 * A kernel thread belongs to a Ruby thread before it switches to that one's
 * stack. A signal handler may run on another stack.
 */
START_TEST(test_being_entered)
{
	const uint64_t saved = stack_top - 0x200, own = 0x7f0000c00000;
	const struct {
		uint64_t sp;
		bool is_parked;
	} states[] = {
		{own - 0x800, true},
		{stack_top - 0x400, false},
		{0x7f0000f00000, false},
		{own + 0x800, false},
	};
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has(&vm->ruby.layout.thread.sched_context))
		return;
	uint64_t fiber = fake_current_fiber(vm, world.sleeper);
	uint64_t ec = FAKE_GET(vm, world.sleeper, thread, ec);
	FAKE_PUT(vm, put_context(world.sleeper), coroutine, stack_pointer, saved);
	FAKE_PUT(vm, ec, ec, machine_stack_start, stack_top);
	FAKE_PUT(vm, ec, ec, machine_stack_maxsize, stack_size);
	FAKE_PUT(vm, fiber, fiber, stack_base, 0);
	struct rcore_snapshot *snapshot = world_load();
	int tid = world_fiber(snapshot, fiber)->tid;
	world_free(snapshot);
	struct rcore_native_thread *native = world.native;
	while (native->tid != tid)
		native++;
	native->has_registers = true;
	native->thread_pointer = own;
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		native->registers[rcore_register_sp(EM_X86_64)] = states[i].sp;
		snapshot = world_load();
		const struct rcore_fiber *found = world_fiber(snapshot, fiber);
		ck_assert(found->is_parked == states[i].is_parked);
		ck_assert_int_eq(found->tid, states[i].is_parked ? 0 : tid);
		ck_assert_int_eq(snapshot->threads[found->thread].tid, found->tid);
		world_free(snapshot);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_being_filled, test_last_functions,
				      test_being_entered};
	return world_run("M:N threads", tests, RCORE_COUNT(tests));
}
