/* SPDX-License-Identifier: MIT */
#include "vm_suite.h"

#include "base/count.h"

enum { MARKING = 1, SWEEPING, COMPACTING, WORD_BITS = 64 };

static uint64_t marks_of(uint64_t object)
{
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	uint64_t page = 0;
	rcore_read_u64(&world.vm.ruby.target.memory,
		       object - object % layout->traits.heap_page_align, &page);
	FAKE_PUT(&world.vm, page, heap_page, before_sweep, 1);
	return page + (uint64_t)layout->heap_page.mark_bits.offset;
}

/* It is the only object of its page without a mark. */
static void unmark(uint64_t object)
{
	struct fake_target *target = &world.vm.ruby.target;
	uint64_t align = world.vm.ruby.layout.traits.heap_page_align;
	uint64_t bit = object % align / 40, marks = marks_of(object);
	for (uint64_t i = 0; i < align / 40; i += WORD_BITS)
		fake_put(target, marks + i / 8, UINT64_MAX);
	fake_put(target, marks + bit / WORD_BITS * 8, ~(UINT64_C(1) << bit % WORD_BITS));
}

static bool is_there(uint64_t mode, uint64_t fiber)
{
	bool found = false;
	FAKE_PUT(&world.vm, world.vm.objspace, objspace, gc_mode, mode);
	struct rcore_snapshot *snapshot = world_load_whole();
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		found |= snapshot->fibers[i].address == fiber;
	ck_assert_uint_eq(snapshot->fiber_count, found ? 8 : 7);
	world_free(snapshot);
	return found;
}

/*
 * Garbage that has not lost anything yet: it has no mark, or its Thread has
 * none. While objects are being marked, some may not have a mark yet.
 */
START_TEST(test_unmarked)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has_place(&vm->ruby.layout.heap_page.mark_bits))
		return;
	ck_assert(is_there(SWEEPING, world.parked));
	unmark(FAKE_GET(vm, world.parked, fiber, self));
	ck_assert(is_there(MARKING, world.parked));
	ck_assert(!is_there(SWEEPING, world.parked));
	/* Before 3.2, there is no such mode. */
	ck_assert(is_there(COMPACTING, world.parked) !=
		  vm->ruby.layout.traits.gc_mode_compacting);
	/* A fiber without an object has no mark of its own. */
	FAKE_PUT(vm, world.orphan, fiber, self, 0);
	unmark(FAKE_GET(vm, world.ended, thread, self));
	ck_assert(!is_there(SWEEPING, world.orphan));
	/* What a thread of a list holds is not garbage. */
	unmark(FAKE_GET(vm, world.running, fiber, self));
	ck_assert(is_there(SWEEPING, world.running));
}
END_TEST

/* Returns whether a fiber that has lost something is kept. What it lost is then reported. */
static bool is_reported(uint64_t fiber)
{
	struct rcore_snapshot *snapshot = world_load();
	const struct rcore_fiber *found = world_fiber(snapshot, fiber);
	bool is_found = found;
	ck_assert(snapshot->incomplete == is_found);
	ck_assert_uint_eq(snapshot->fiber_count, is_found ? 8 : 7);
	world_free(snapshot);
	return is_found;
}

/*
 * A fiber that the heap shows to be alive is kept, whatever it lost. The
 * objects of a page that was swept are alive, except that the collector may be
 * sweeping this page just now.
 */
START_TEST(test_alive)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has_place(&vm->ruby.layout.heap_page.mark_bits))
		return;
	FAKE_PUT(vm, world.parked_cfp[0], cfp, ep, 8);
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, SWEEPING);
	ck_assert(is_reported(world.parked));
	FAKE_PUT(vm, vm->objspace, objspace, during_gc, 1);
	ck_assert(!is_reported(world.parked));
	/* This marks all objects except that of the running fiber. */
	unmark(FAKE_GET(vm, world.running, fiber, self));
	ck_assert(is_reported(world.parked));
	unmark(FAKE_GET(vm, world.parked, fiber, self));
	ck_assert(!is_reported(world.parked));
}
END_TEST

/* gdb writes zeroes into a core for what it cannot read: that says nothing of a fiber. */
START_TEST(test_lost_stack)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t ec = world.parked + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
	uint64_t stack = FAKE_GET(vm, ec, ec, vm_stack);
	uint64_t size = FAKE_GET(vm, ec, ec, vm_stack_size);
	for (uint64_t i = 0; i < size; i++)
		fake_put(&vm->ruby.target, stack + i * sizeof(uint64_t), 0);
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, SWEEPING);
	struct rcore_snapshot *snapshot = world_load();
	ck_assert(snapshot->incomplete);
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	ck_assert_ptr_nonnull(world_fiber(snapshot, world.parked)->problem);
	world_free(snapshot);
}
END_TEST

/* fiber_mark() marks who resumed a fiber; one that has ended need not be in the VM's list. */
START_TEST(test_resumed_by)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t ended = fake_alloc(&vm->ruby.target, vm->ruby.layout.fiber.size, 16);
	uint64_t ec = ended + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
	FAKE_PUT(vm, world.parked, fiber, prev, ended);
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, SWEEPING);
	FAKE_PUT(vm, vm->objspace, objspace, during_gc, 1);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_null(world_fiber(snapshot, world.parked));
	world_free(snapshot);
	FAKE_PUT(vm, ec, ec, fiber_ptr, ended);
	snapshot = world_load();
	ck_assert_ptr_nonnull(world_fiber(snapshot, world.parked));
	world_free(snapshot);
}
END_TEST

/* CRuby writes the type of a Fiber before its data; until then, a register has the Fiber. */
START_TEST(test_half_made)
{
	enum { ORIG_RAX = 15, COUNT = 27 };
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (vm->ruby.layout.traits.fibers_listed)
		return;
	struct rcore_native_thread *thread = &world.native[0];
	uint64_t object = FAKE_GET(vm, world.parked, fiber, self);
	FAKE_PUT(vm, object, data, data, 1);
	struct rcore_snapshot *snapshot = world_load();
	ck_assert(snapshot->incomplete);
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	world_free(snapshot);
	thread->has_registers = true;
	thread->register_count = COUNT;
	thread->registers[ORIG_RAX] = UINT64_MAX;
	thread->registers[0] = object;
	snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->fiber_count, 7);
	world_free(snapshot);
}
END_TEST

/*
 * obj_free() frees a rb_fiber_t before it clears the slot. Until then, the slot
 * leads to memory that may be anything. Without a sweep, or if the object has a
 * mark, that is damage.
 */
START_TEST(test_half_freed)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	if (layout->traits.fibers_listed || !rcore_has_place(&layout->heap_page.mark_bits))
		return;
	uint64_t object = FAKE_GET(vm, world.parked, fiber, self);
	uint64_t ec = world.parked + (uint64_t)layout->fiber.saved_ec.offset;
	FAKE_PUT(vm, ec, ec, fiber_ptr, 0);
	FAKE_PUT(vm, ec, ec, vm_stack, 0);
	struct rcore_snapshot *snapshot = world_load();
	ck_assert(snapshot->incomplete);
	world_free(snapshot);
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, SWEEPING);
	unmark(FAKE_GET(vm, world.running, fiber, self));
	snapshot = world_load();
	ck_assert(snapshot->incomplete);
	world_free(snapshot);
	unmark(object);
	ck_assert(!is_there(SWEEPING, world.parked));
	/* The page that is being swept is no longer one to sweep. */
	uint64_t page;
	rcore_read_u64(&vm->ruby.target.memory,
		       object - object % layout->traits.heap_page_align, &page);
	FAKE_PUT(vm, page, heap_page, before_sweep, 0);
	FAKE_PUT(vm, vm->objspace, objspace, during_gc, 1);
	ck_assert(!is_there(SWEEPING, world.parked));
}
END_TEST

/*
 * The collector moves an object with its marks. Until it has corrected the
 * references, the fiber refers to the slot that its object left.
 */
START_TEST(test_moved)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	if (!rcore_has_place(&layout->heap_page.mark_bits) ||
	    !rcore_has_place(&layout->moved.destination))
		return;
	uint64_t from = FAKE_GET(vm, world.parked, fiber, self);
	uint64_t to = fake_data(vm, vm->fiber_type, world.parked);
	FAKE_PUT(vm, from, basic, flags, RCORE_T_MOVED);
	FAKE_PUT(vm, from, moved, destination, to);
	FAKE_PUT(vm, vm->objspace, objspace, during_compacting, 1);
	FAKE_PUT(vm, vm->objspace, objspace, during_gc, 1);
	unmark(from);
	/* Up to 3.1, objects are moved while the heap is being swept. */
	uint64_t mode = layout->traits.gc_mode_compacting ? COMPACTING : SWEEPING;
	ck_assert(is_there(mode, world.parked));
	unmark(to);
	ck_assert(!is_there(mode, world.parked));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_unmarked,   test_alive,     test_lost_stack,
				      test_resumed_by, test_half_made, test_half_freed,
				      test_moved};
	return world_run("collected", tests, RCORE_COUNT(tests));
}
