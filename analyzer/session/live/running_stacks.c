/* SPDX-License-Identifier: MIT */
#include "session/live/running.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"

static int by_start(const void *left, const void *right)
{
	const struct rcore_running_gap *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

struct rcore_error *rcore_running_gaps_find(const struct rcore_snapshot *snapshot,
					    bool of_threads, struct rcore_running_gaps *ret)
{
	ret->count = 0;
	ret->items = rcore_calloc(snapshot->fiber_count, sizeof(*ret->items));
	if (!ret->items)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		uint64_t end = fiber->vm_stack + fiber->vm_stack_size;
		if (of_threads && !fiber->is_root && !fiber->is_current)
			continue;
		if (end > fiber->vm_stack)
			ret->items[ret->count++] =
				(struct rcore_running_gap){fiber->vm_stack, end};
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), by_start);
	return NULL;
}

static size_t first_gap(const struct rcore_running_gaps *gaps, uint64_t address)
{
	size_t low =
		RCORE_PARTITION_POINT(gaps->count, middle, gaps->items[middle].end <= address);
	return low;
}

/* The most to keep of one stack: eight times the default of a main thread. */
enum { STACK_LIMIT = 64 << 20, SLEEPING_LIMIT = 256 << 10, RED_ZONE = 128 };

static void keep(struct rcore_live *live, const struct rcore_running_gaps *gaps, uint64_t sp,
		 uint64_t end, uint64_t left)
{
	uint64_t start = sp < RED_ZONE ? 0 : sp - RED_ZONE;
	for (size_t i = first_gap(gaps, start); start < end && left; i++) {
		bool is_gap = i < gaps->count && gaps->items[i].start < end;
		uint64_t stop = is_gap ? gaps->items[i].start : end;
		uint64_t size = stop > start ? stop - start : 0;
		if (size > left)
			size = left;
		rcore_live_keep(live, start, start + size);
		left -= size;
		start = is_gap ? gaps->items[i].end : end;
	}
}

void rcore_running_keep_thread_stacks(const struct rcore_target *target,
				      const struct rcore_running_gaps *gaps)
{
	const struct rcore_process *process = target->process;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		uint64_t sp = thread->registers[rcore_register_sp(process->machine)];
		if (thread->has_registers)
			keep(target->live, gaps, sp,
			     rcore_live_stack_end(target->live, sp, thread->thread_pointer),
			     STACK_LIMIT);
	}
}

struct sleeping {
	struct rcore_live *live;
	const struct rcore_running_gaps *gaps;
};

static void keep_sleeping(void *context, uint64_t sp)
{
	const struct sleeping *sleeping = context;
	keep(sleeping->live, sleeping->gaps, sp, rcore_live_stack_end(sleeping->live, sp, 0),
	     SLEEPING_LIMIT);
}

void rcore_running_keep_sleeping_stacks(const struct rcore_target *target,
					const struct rcore_running_gaps *gaps)
{
	struct sleeping sleeping = {target->live, gaps};
	rcore_live_visit_sleeping(target->live, keep_sleeping, &sleeping);
}

struct rcore_error *rcore_running_keep_stacks(const struct rcore_target *target,
					      const struct rcore_snapshot *snapshot)
{
	struct rcore_live *live = target->live;
	struct rcore_running_gaps gaps;
	struct rcore_error *err = rcore_running_gaps_find(snapshot, false, &gaps);
	if (err)
		return err;
	rcore_running_keep_thread_stacks(target, &gaps);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		uint64_t sp = fiber->stack_pointer;
		uint64_t end = fiber->machine_stack + fiber->machine_stack_size;
		if (!sp || (fiber->is_current && !fiber->is_parked) ||
		    fiber->status == RCORE_FIBER_TERMINATED)
			continue;
		if (sp < fiber->machine_stack || sp >= end)
			end = rcore_live_stack_end(live, sp, 0);
		keep(live, &gaps, sp, end, STACK_LIMIT);
	}
	free(gaps.items);
	return NULL;
}
