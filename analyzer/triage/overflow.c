/* SPDX-License-Identifier: MIT */
#include "triage/overflow.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	DEFAULT_PAGE = 4096,
	/*
	 * The largest distance between a stack's lowest page and a fault that
	 * it caused: the kernel keeps 256 pages free below a stack that grows
	 * (stack_guard_gap).
	 */
	NEAR = 1 << 20,
	/*
	 * The `stp` of aarch64 moves down by at most this, and faults before sp
	 * changes.
	 */
	STEP = 512,
	MARKED = 64 << 10, /* of guard pages inside a stack's own mapping */
};

struct fault {
	uint64_t address, sp, page;
};

/*
 * Code touches memory at its stack pointer or above; a call and x86-64's red
 * zone touch a little below.
 */
static bool ran_into(const struct fault *fault, uint64_t stack_start)
{
	return fault->address + fault->page >= fault->sp &&
	       fault->sp <= stack_start + fault->page;
}

static uint64_t end_of(const struct rcore_segment *segment)
{
	return segment->start + segment->size;
}

/* Finds the guard pages that end where the stack begins, by the map. */
static void find_guard(const struct rcore_process *process, struct rcore_overflow *overflow)
{
	for (size_t i = 0; i < process->segment_count; i++) {
		const struct rcore_segment *segment = &process->segments[i];
		if (end_of(segment) != overflow->stack_start || segment->readable ||
		    segment->writable)
			continue;
		overflow->guard_start = segment->start;
		overflow->guard_end = end_of(segment);
	}
}

/*
 * Finds the lowest writable memory that ends above the fault. If the fault is
 * an overflow, this is the stack.
 */
static const struct rcore_segment *above(const struct rcore_process *process, uint64_t address)
{
	for (size_t i = 0; i < process->segment_count; i++)
		if (end_of(&process->segments[i]) > address && process->segments[i].writable)
			return &process->segments[i];
	return NULL;
}

static bool by_map(const struct rcore_process *process, const struct fault *fault,
		   uint64_t stack_base, struct rcore_overflow *ret)
{
	const struct rcore_segment *stack = above(process, fault->address);
	if (!stack)
		return false;
	uint64_t start = stack->start, end = end_of(stack);
	/*
	 * The main thread's ec->machine.stack_start may be the very end of its
	 * stack.
	 */
	if (stack_base && (stack_base < start || stack_base > end))
		return false;
	*ret = (struct rcore_overflow){.stack_start = start, .stack_end = end};
	if (fault->address >= start) {
		if (fault->address - start >= MARKED)
			return false;
		ret->guard_start = start;
		ret->guard_end = (fault->address & -fault->page) + fault->page;
		ret->stack_start = ret->guard_end;
		return true;
	}
	find_guard(process, ret);
	if (ret->guard_end)
		return fault->address >= ret->guard_start;
	return start - fault->address <= NEAR;
}

static bool by_fiber(const struct rcore_fiber *fiber, const struct fault *fault,
		     struct rcore_overflow *ret)
{
	*ret = (struct rcore_overflow){
		.stack_start = fiber->machine_stack,
		.stack_end = fiber->machine_stack + fiber->machine_stack_size,
		.guard_start = fiber->machine_stack - fault->page,
		.guard_end = fiber->machine_stack,
	};
	return ret->guard_start <= fault->address && fault->address < ret->guard_end;
}

static bool find(const struct rcore_process *process, const struct rcore_fiber *fiber,
		 const struct fault *fault, struct rcore_overflow *ret)
{
	bool is_one = fiber && fiber->machine_stack
			      ? by_fiber(fiber, fault, ret)
			      : by_map(process, fault, fiber ? fiber->stack_base : 0, ret);
	return is_one && ran_into(fault, ret->stack_start);
}

void rcore_overflow_find(const struct rcore_process *process,
			 const struct rcore_snapshot *snapshot, uint64_t address, uint64_t sp,
			 struct rcore_overflow *ret)
{
	struct fault fault = {address, sp, DEFAULT_PAGE};
	struct rcore_overflow found;
	int index = snapshot->cause.fiber;
	const struct rcore_fiber *fiber = index >= 0 ? &snapshot->fibers[index] : NULL;
	uint64_t page;
	if (rcore_process_auxv(process, AT_PAGESZ, &page) && page && !(page & (page - 1)))
		fault.page = page;
	if (!address)
		fault.address = sp;
	bool is_one = find(process, fiber, &fault, &found);
	if (!is_one && !address && sp > STEP) {
		fault.address = sp - STEP;
		is_one = find(process, fiber, &fault, &found);
	}
	if (!is_one)
		return;
	found.present = true;
	found.fiber = index;
	found.address = address;
	found.stack_pointer = sp;
	*ret = found;
}

static void whose(const struct rcore_snapshot *snapshot, char *buffer, size_t size)
{
	const struct rcore_cause *cause = &snapshot->cause;
	if (cause->overflow.fiber < 0 || cause->thread < 0) {
		snprintf(buffer, size, "kernel thread %d, which runs no Ruby thread",
			 cause->tid);
		return;
	}
	const struct rcore_fiber *fiber = &snapshot->fibers[cause->overflow.fiber];
	const struct rcore_thread *thread = &snapshot->threads[cause->thread];
	if (fiber->is_root)
		snprintf(buffer, size, "%s %s, fiber %s",
			 thread->is_main ? "the main thread" : "thread", thread->id, fiber->id);
	else
		snprintf(buffer, size, "fiber %s", fiber->id);
}

void rcore_overflow_text(const struct rcore_snapshot *snapshot, char *buffer, size_t size)
{
	const struct rcore_overflow *overflow = &snapshot->cause.overflow;
	char who[128], what[96];
	whose(snapshot, who, sizeof(who));
	if (overflow->guard_end)
		snprintf(what, sizeof(what),
			 "%s the guard page 0x%" PRIx64 "-0x%" PRIx64 " below",
			 overflow->address ? "in" : "at", overflow->guard_start,
			 overflow->guard_end);
	else
		snprintf(what, sizeof(what), "where nothing is mapped, just below");
	snprintf(buffer, size,
		 "stack overflow of %s: %s 0x%" PRIx64 " is %s its machine stack of %" PRIu64
		 " KiB",
		 who, overflow->address ? "address" : "its stack pointer",
		 overflow->address ? overflow->address : overflow->stack_pointer, what,
		 (overflow->stack_end - overflow->stack_start) >> 10);
}
