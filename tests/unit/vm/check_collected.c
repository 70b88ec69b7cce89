/* SPDX-License-Identifier: MIT */
#include "vm_suite.h"

/* Garbage that has not lost anything yet: it has no mark. */
START_TEST(test_unmarked)
{
	enum { MARKING = 1, SWEEPING, BITS = 64 };
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	struct fake_target *target = &vm->ruby.target;
	const struct rcore_layout *layout = &vm->ruby.layout;
	uint64_t object = FAKE_GET(vm, world.parked, fiber, self), page = 0;
	uint64_t offset = object % layout->traits.heap_page_align;
	uint64_t bit = offset / layout->traits.default_slot_size;
	if (!rcore_has_place(&layout->heap_page.mark_bits))
		return;
	rcore_read_u64(&target->memory, object - offset, &page);
	FAKE_PUT(vm, page, heap_page, before_sweep, 1);
	uint64_t marks = page + (uint64_t)layout->heap_page.mark_bits.offset;
	for (uint64_t i = 0; i < layout->traits.heap_page_align / 40; i += BITS)
		fake_put(target, marks + i / 8, UINT64_MAX);
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, SWEEPING);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	world_free(snapshot);
	fake_put(target, marks + bit / BITS * 8, ~(UINT64_C(1) << bit % BITS));
	snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->fiber_count, 7);
	world_free(snapshot);
	/* What has no mark yet. */
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, MARKING);
	snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	world_free(snapshot);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_unmarked};
	return world_run("collected", tests, sizeof(tests) / sizeof(*tests));
}
