/* SPDX-License-Identifier: MIT */
#include "vm/find/collected.h"

#include <stdlib.h>

#include "base/grow.h"
#include "ruby/get.h"
#include "ruby/heap/heap.h"
#include "ruby/heap/moved.h"
#include "vm/find/frame_proof.h"
#include "vm/find/running.h"
#include "vm/wrapper.h"

/*
 * How many times to look for fibers that collected fibers resumed. Each time
 * finds one level more; garbage is rarely nested deeper.
 */
enum { CHAIN_LIMIT = 64 };

bool rcore_vm_is_ending(const struct rcore_thread *threads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (threads[i].is_main && threads[i].status == RCORE_THREAD_KILLED)
			return true;
	return false;
}

struct sweep {
	/* There may be garbage whose references are already freed. */
	bool has_garbage;
	bool has_marks;     /* the heap shows which objects are garbage */
	bool is_collecting; /* the collector is at work, or may be */
};

static struct sweep read_sweep(struct rcore_loader *loader)
{
	struct rcore_ruby *ruby = loader->ruby;
	uint64_t objspace;
	if (ruby->layout->traits.sweep_aborted &&
	    rcore_vm_is_ending(loader->threads.items, loader->threads.count))
		return (struct sweep){.has_garbage = true};
	rcore_auto_error err = RCORE_GET(ruby, loader->vm, vm, objspace, &objspace);
	if (err || !rcore_heap_is_sweeping(ruby, objspace))
		return (struct sweep){.has_garbage = false};
	return (struct sweep){
		.has_garbage = true,
		.has_marks = true,
		.is_collecting = rcore_heap_is_collecting(ruby, objspace),
	};
}

static uint64_t prev_of(struct rcore_loader *loader, size_t index)
{
	uint64_t prev = 0;
	rcore_read_field(loader->ruby->memory, loader->fibers.items[index].address,
			 &loader->ruby->layout->fiber.prev, &prev);
	return prev;
}

/*
 * Marks a fiber that is not garbage, and those that wait for it to yield
 * (fiber_mark()).
 */
static void hold(struct rcore_loader *loader, uint64_t fiber, bool *held)
{
	int index = rcore_address_map_get(&loader->fiber_at, fiber);
	while (index >= 0 && !held[index]) {
		held[index] = true;
		index = rcore_address_map_get(&loader->fiber_at,
					      prev_of(loader, (size_t)index));
	}
}

/*
 * Whether the fiber is certainly not garbage. If so, anything wrong with it is
 * damage and must be reported. The memory of a freed fiber may point to a newer
 * object in the slot of its own, so the object is checked.
 */
static bool is_alive(struct rcore_loader *loader, const struct sweep *sweep,
		     const struct rcore_fiber *fiber)
{
	struct rcore_ruby *ruby = loader->ruby;
	return sweep->has_marks && fiber->object &&
	       rcore_wraps(ruby, fiber->object, fiber->address) &&
	       !rcore_wraps_nothing(ruby, fiber->object) &&
	       rcore_heap_is_alive(ruby, rcore_moved_to(ruby, fiber->object),
				   sweep->is_collecting);
}

static void hold_all(struct rcore_loader *loader, const struct sweep *sweep, bool *held)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	for (size_t i = 0; i < loader->threads.count; i++) {
		uint64_t thread = loader->threads.items[i].address;
		uint64_t ec, root;
		if (!rcore_read_field(memory, thread, &layout->thread.ec, &ec) && ec)
			hold(loader, ec - (uint64_t)layout->fiber.saved_ec.offset, held);
		if (!rcore_read_field(memory, thread, &layout->thread.root_fiber, &root))
			hold(loader, root, held);
	}
	for (size_t i = 0; i < loader->fibers.count; i++)
		if (is_alive(loader, sweep, &loader->fibers.items[i]))
			hold(loader, loader->fibers.items[i].address, held);
}

/*
 * Whether the collector has found the object to be garbage. gc_move() of gc.c
 * (gc/default/default.c) takes the mark of an object that it moves away before
 * it marks the new place: until then, the collector has the object at hand.
 */
static bool is_garbage(struct rcore_loader *loader, uint64_t object)
{
	struct rcore_ruby *ruby = loader->ruby;
	return object && rcore_heap_is_garbage(ruby, rcore_moved_to(ruby, object)) &&
	       !(ruby->moved && rcore_is_at_hand(ruby->memory, loader->process, object));
}

/*
 * Whether the fiber's Thread is gone. A marked fiber keeps it alive, and so the
 * rb_thread_t of a thread that has ended (cont_mark()).
 */
static bool lost_thread(struct rcore_loader *loader, const struct rcore_fiber *fiber)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	uint64_t thread, vm, self;
	if (rcore_read_field(memory, fiber->ec, &layout->ec.thread_ptr, &thread) || !thread ||
	    rcore_address_map_get(&loader->thread_at, thread) >= 0)
		return false;
	return rcore_read_field(memory, thread, &layout->thread.vm, &vm) || vm != loader->vm ||
	       rcore_read_field(memory, thread, &layout->thread.self, &self) ||
	       !rcore_wraps(loader->ruby, self, thread) || is_garbage(loader, self);
}

static bool is_whole(const struct rcore_fiber *fiber)
{
	if (fiber->problem || fiber->frames_truncated)
		return false;
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (fiber->frames[i].problem)
			return false;
	return true;
}

/*
 * Whether the rb_fiber_t still exists. One that has ended need not be on the
 * list.
 */
static bool is_fiber(struct rcore_loader *loader, uint64_t fiber)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t back;
	return !rcore_read_field(loader->ruby->memory,
				 fiber + (uint64_t)layout->fiber.saved_ec.offset,
				 &layout->ec.fiber_ptr, &back) &&
	       back == fiber;
}

/*
 * Whether the VM stack still begins with its dummy frame. That of garbage does,
 * because it is freed with the rb_fiber_t. If it does not, the stack's bytes
 * were lost (gdb writes zeroes into a core for memory that it cannot read), and
 * say nothing about the fiber.
 */
static bool has_stack(struct rcore_loader *loader, const struct rcore_fiber *fiber)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	uint64_t stack, size;
	return !rcore_read_field(memory, fiber->ec, &layout->ec.vm_stack, &stack) &&
	       !rcore_read_field(memory, fiber->ec, &layout->ec.vm_stack_size, &size) &&
	       stack &&
	       rcore_frame_is_bottom(loader->ruby,
				     stack + size * sizeof(uint64_t) - layout->cfp.size);
}

/*
 * Whether the fiber that resumed this one is gone. A marked fiber keeps it
 * alive (fiber_mark()).
 */
static bool lost_prev(struct rcore_loader *loader, size_t index, const bool *collected)
{
	uint64_t prev = prev_of(loader, index);
	int other = prev ? rcore_address_map_get(&loader->fiber_at, prev) : -1;
	if (other >= 0)
		return collected[other];
	return prev && !is_fiber(loader, prev);
}

static void find_collected(struct rcore_loader *loader, const bool *held, bool *collected)
{
	for (size_t i = 0; i < loader->fibers.count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[i];
		bool is_damaged = !is_whole(fiber) && has_stack(loader, fiber);
		collected[i] = !held[i] && (is_damaged || lost_thread(loader, fiber) ||
					    is_garbage(loader, fiber->object));
	}
	bool more = true;
	for (int step = 0; more && step < CHAIN_LIMIT; step++) {
		more = false;
		for (size_t i = 0; i < loader->fibers.count; i++)
			if (!held[i] && !collected[i] && lost_prev(loader, i, collected))
				more = collected[i] = true;
	}
}

static struct rcore_error *drop(struct rcore_loader *loader, const bool *collected)
{
	size_t kept = 0;
	rcore_address_map_deinit(&loader->fiber_at);
	for (size_t i = 0; i < loader->fibers.count; i++) {
		if (collected[i])
			continue;
		loader->fibers.items[kept] = loader->fibers.items[i];
		if (!rcore_address_map_put(&loader->fiber_at,
					   loader->fibers.items[kept].address, (int)kept))
			return rcore_error_no_memory();
		kept++;
	}
	loader->fibers.count = kept;
	return NULL;
}

/*
 * The collector may be idle now and sweep when the process is stopped. What
 * find_collected() reads then must be in the copy.
 */
static void keep_marks(struct rcore_loader *loader)
{
	struct rcore_ruby *ruby = loader->ruby;
	const struct rcore_earlier_fibers *earlier = ruby->earlier_fibers;
	if (!ruby->live || ruby->packed_fibers)
		return;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[i];
		if (fiber->object &&
		    !(earlier && rcore_address_map_get(&earlier->indices, fiber->address) >= 0))
			rcore_heap_keep_marks(ruby, fiber->object);
	}
}

struct rcore_error *rcore_drop_collected(struct rcore_loader *loader, bool was_incomplete)
{
	struct rcore_snapshot *snapshot = loader->snapshot;
	keep_marks(loader);
	const struct sweep sweep = read_sweep(loader);
	if (!sweep.has_garbage)
		return NULL;
	bool *held = rcore_calloc(loader->fibers.count, sizeof(*held));
	bool *collected = rcore_calloc(loader->fibers.count, sizeof(*collected));
	struct rcore_error *err = held && collected ? NULL : rcore_error_no_memory();
	if (!err) {
		hold_all(loader, &sweep, held);
		find_collected(loader, held, collected);
		err = drop(loader, collected);
	}
	snapshot->incomplete = was_incomplete || snapshot->problem_count;
	for (size_t i = 0; i < loader->fibers.count; i++)
		snapshot->incomplete |= !is_whole(&loader->fibers.items[i]);
	free(held);
	free(collected);
	return err;
}
