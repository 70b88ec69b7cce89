/* SPDX-License-Identifier: MIT */
#include "vm_suite.h"

#include "base/count.h"

enum { MARKING = 1, SWEEPING, WORD_BITS = 64 };

static uint64_t marks_of(uint64_t object)
{
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	uint64_t page = 0;
	rcore_read_u64(&world.vm.ruby.target.memory,
		       object - object % layout->traits.heap_page_align, &page);
	FAKE_PUT(&world.vm, page, heap_page, before_sweep, 1);
	return page + (uint64_t)layout->heap_page.mark_bits.offset;
}

/* Of all objects of its page it alone has no mark. */
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
 * Garbage that has lost nothing yet: it has no mark, or its Thread has none.
 * While objects are marked, none may have one yet.
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
	unmark(FAKE_GET(vm, world.ended, thread, self));
	ck_assert(!is_there(SWEEPING, world.orphan));
	/* What a thread in a list holds is no garbage. */
	unmark(FAKE_GET(vm, world.running, fiber, self));
	ck_assert(is_there(SWEEPING, world.running));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_unmarked};
	return world_run("collected", tests, RCORE_COUNT(tests));
}
