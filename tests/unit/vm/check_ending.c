/* SPDX-License-Identifier: MIT */
#include "vm_suite.h"

#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "vm/find/find.h"
#include "vm/stack/exceptions.h"

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
	/*
	 * free() has overwritten the list. If the main thread was not killed,
	 * the list is corrupt for another reason.
	 */
	fake_put(&vm->ruby.target, head, vm->address + 0x1000000);
	fake_put(&vm->ruby.target, head + 8, 0x5eed);
	ck_assert(!rcore_vm_is_freed(memory, layout, vm->address));
	FAKE_PUT(vm, vm->main_thread, thread, status, RCORE_THREAD_KILLED);
	ck_assert(rcore_vm_is_freed(memory, layout, vm->address));
	fake_put(&vm->ruby.target, head, head);
	/* One that is being made. */
	FAKE_PUT(vm, vm->address, vm, ractor_count, 0);
	ck_assert(!rcore_vm_is_freed(memory, layout, vm->address));
	ck_assert(!rcore_vm_is_freed(memory, layout, 0));
}
END_TEST

/* What a parked fiber handles: its backtrace is a slot with these flags. */
static uint64_t handle(uint64_t flags)
{
	struct fake_ruby *ruby = &world.vm.ruby;
	uint64_t klass = fake_named_class(ruby, "Oops", 0), backtrace, object;
	backtrace = fake_object(ruby, flags, 40);
	object = fake_instance(ruby, fake_object(ruby, RCORE_T_OBJECT, 40), klass);
	struct fake_ivar bt = {fake_id(ruby, "bt"), backtrace};
	fake_set_ivars(ruby, object, FAKE_IVAR_EMBEDDED, &bt, 1);
	fake_put_generic_ivars(ruby);
	FAKE_PUT(&world.vm, world.parked + (uint64_t)ruby->layout.fiber.saved_ec.offset, ec,
		 errinfo, object);
	return object;
}

/*
 * While Ruby ends it frees backtraces that exceptions still refer to. That is
 * no problem. It is one if Ruby does not end. If another object is in its place,
 * the fiber may be garbage, whose sweep was aborted (from 3.3 on); but not if
 * another fiber waits in it.
 */
START_TEST(test_freed_backtrace)
{
	static const struct {
		enum rcore_type type;
		bool is_ending, is_problem, is_left_out, has_resumed;
	} cases[] = {{RCORE_T_NONE, true, false, false, false},
		     {RCORE_T_ZOMBIE, true, false, false, false},
		     {RCORE_T_DATA, true, false, false, false},
		     {RCORE_T_STRING, true, true, true, false},
		     {RCORE_T_STRING, true, true, false, true},
		     {RCORE_T_STRING, false, true, false, false},
		     {RCORE_T_DATA, false, true, false, false},
		     {RCORE_T_NONE, false, true, false, false},
		     {RCORE_T_ZOMBIE, false, true, false, false}};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		world_begin(_i);
		uint64_t object = handle(cases[i].type);
		bool is_left_out =
			cases[i].is_left_out && world.vm.ruby.layout.traits.sweep_aborted;
		/* Up to 3.2, the flags are cleared before the data is freed. */
		bool is_problem =
			cases[i].is_problem || (cases[i].type == RCORE_T_DATA &&
						!world.vm.ruby.layout.traits.sweep_aborted);
		if (cases[i].is_ending)
			FAKE_PUT(&world.vm, world.vm.main_thread, thread, status,
				 RCORE_THREAD_KILLED);
		struct rcore_snapshot *snapshot = world_load();
		struct fake_ruby *fake = &world.vm.ruby;
		struct rcore_ruby ruby;
		rcore_ruby_init(&ruby, &fake->target.memory, &fake->layout, &snapshot->arena);
		rcore_ruby_set_vm(&ruby, world.vm.address);
		ruby.global_symbols = fake->symbols;
		ruby.shape_list = fake->shapes;
		snapshot->incomplete = false;
		const struct rcore_fiber *fiber = world_fiber(snapshot, world.parked);
		if (cases[i].has_resumed)
			snapshot->fibers[fiber - snapshot->fibers].resuming = 0;
		ck_assert_ptr_null(rcore_vm_exceptions(&ruby, snapshot));
		ck_assert_uint_eq(fiber->exception_count, is_left_out ? 0 : 1);
		if (is_left_out) {
			ck_assert(!snapshot->incomplete);
			rcore_ruby_deinit(&ruby);
			world_free(snapshot);
			continue;
		}
		ck_assert_uint_eq(fiber->exceptions[0].object, object);
		ck_assert_uint_eq(fiber->exceptions[0].location_count, 0);
		ck_assert(!!fiber->exceptions[0].problem == is_problem);
		ck_assert(snapshot->incomplete == is_problem);
		rcore_ruby_deinit(&ruby);
		world_free(snapshot);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_ending, test_freed, test_freed_backtrace};
	return world_run("ending", tests, RCORE_COUNT(tests));
}
