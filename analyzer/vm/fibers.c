/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/heap/heap.h"
#include "vm/fiber_link.h"
#include "vm/find/fiber_search.h"
#include "vm/loader.h"
#include "vm/problem.h"
#include "vm/wrapper.h"

static uint64_t word_of(const void *copy, size_t size, const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && !rcore_field_of(copy, size, field, &value))
		value = 0;
	return value;
}

/* A field of the fiber's saved_ec, in a copy of the fiber. */
static uint64_t ec_word_of(const struct rcore_layout *layout, const char *copy, size_t size,
			   const struct rcore_field *field)
{
	size_t skip = (size_t)layout->fiber.saved_ec.offset;
	return skip < size ? word_of(copy + skip, size - skip, field) : 0;
}

static bool known(const struct rcore_loader *loader, uint64_t address)
{
	return !address || rcore_address_map_get(&loader->fiber_at, address) >= 0;
}

static enum rcore_fiber_status status_of(uint64_t status)
{
	return status <= RCORE_FIBER_TERMINATED ? (enum rcore_fiber_status)status
						: RCORE_FIBER_STATUS_UNKNOWN;
}

void rcore_note_fiber(struct rcore_loader *loader, struct rcore_fiber *fiber, const char *what)
{
	if (!fiber->problem)
		fiber->problem = rcore_problem(loader->snapshot,
					       rcore_error_create(RCORE_ERROR_CORRUPT,
								  "fiber at 0x%" PRIx64 ": %s",
								  fiber->address, what));
}

/*
 * Whether the context at `address` has a copy of the EC of `fiber`, another
 * fiber.
 */
static bool is_copy(struct rcore_loader *loader, uint64_t address, uint64_t fiber)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t type, back;
	return fiber != address &&
	       !rcore_read_field(loader->ruby->memory, fiber, &layout->fiber.type, &type) &&
	       (uint32_t)type == RCORE_FIBER_CONTEXT &&
	       !rcore_read_field(loader->ruby->memory,
				 fiber + (uint64_t)layout->fiber.saved_ec.offset,
				 &layout->ec.fiber_ptr, &back) &&
	       back == fiber;
}

/*
 * Whether a context has a copy of the EC of the fiber that created it. A callcc
 * continuation always has one. A new fiber has one for a moment:
 * fiber_t_alloc() of cont.c puts it on the list, and lets its object point to
 * it, before it has its own EC.
 */
static bool is_no_fiber(struct rcore_loader *loader, uint64_t address, const void *copy,
			size_t size)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint32_t type = (uint32_t)word_of(copy, size, &layout->fiber.type);
	if (!is_copy(loader, address, ec_word_of(layout, copy, size, &layout->ec.fiber_ptr)))
		return false;
	return type == RCORE_CONTINUATION_CONTEXT ||
	       (type == RCORE_FIBER_CONTEXT &&
		word_of(copy, size, &layout->fiber.status) == RCORE_FIBER_CREATED &&
		rcore_wraps_nothing(loader->ruby, word_of(copy, size, &layout->fiber.self)));
}

/*
 * Reduces the machine stack to the part that can be used, without its guard
 * pages.
 */
static void leave_guard(const struct rcore_loader *loader, struct rcore_fiber *fiber)
{
	enum { AT_PAGESZ = 6, DEFAULT_PAGE = 4096 };
	uint64_t page = DEFAULT_PAGE;
	if (!loader->ruby->layout->traits.guard_inside || !fiber->machine_stack)
		return;
	rcore_process_auxv(loader->process, AT_PAGESZ, &page);
	if (page >= fiber->machine_stack_size)
		return;
	fiber->machine_stack += page;
	fiber->machine_stack_size -= page;
}

/*
 * Adds the fiber at `address`. If `certain`, the pointer can only lead to a
 * fiber, so a struct that fails its check is kept, with a problem.
 */
static struct rcore_error *add_fiber(struct rcore_loader *loader, uint64_t address,
				     bool certain)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	char copy[RCORE_FIBER_STRUCT_LIMIT];
	size_t size = layout->fiber.size;

	if (known(loader, address) || loader->fibers.count >= RCORE_FIBER_LIMIT)
		return NULL;
	if (size > sizeof(copy))
		size = sizeof(copy);
	enum rcore_fault fault = rcore_read(loader->ruby->memory, address, copy, size);
	uint64_t back = fault ? 0 : ec_word_of(layout, copy, size, &layout->ec.fiber_ptr);
	uint32_t type = (uint32_t)word_of(copy, size, &layout->fiber.type);
	bool proved = !fault && back == address && type == RCORE_FIBER_CONTEXT;
	if (!proved && (!certain || (!fault && is_no_fiber(loader, address, copy, size))))
		return NULL;

	int index = (int)loader->fibers.count;
	struct rcore_fiber *fiber = rcore_push(&loader->fibers);
	if (!fiber || !rcore_address_map_put(&loader->fiber_at, address, index))
		return rcore_error_no_memory();
	fiber->address = address;
	fiber->ec = address + (uint64_t)layout->fiber.saved_ec.offset;
	fiber->resumed_by = fiber->resuming = fiber->thread = fiber->group = -1;
	fiber->status = RCORE_FIBER_STATUS_UNKNOWN;
	uint64_t self = fault ? 0 : word_of(copy, size, &layout->fiber.self);
	if (!proved) {
		/* Its object may still show that it is not garbage. */
		if (self && rcore_wraps(loader->ruby, self, address) &&
		    !rcore_wraps_nothing(loader->ruby, self))
			fiber->object = self;
		fiber->problem = rcore_problem(
			loader->snapshot,
			fault ? rcore_fault_error(fault, "fiber", address, size)
			      : rcore_error_create(RCORE_ERROR_CORRUPT,
						   "no rb_fiber_t at 0x%" PRIx64
						   " (its EC does not point back)",
						   address));
		return NULL;
	}
	fiber->object = self;
	fiber->status = status_of(word_of(copy, size, &layout->fiber.status));
	fiber->yielding = word_of(copy, size, &layout->fiber.yielding);
	fiber->blocking = word_of(copy, size, &layout->fiber.blocking);
	fiber->machine_stack = word_of(copy, size, &layout->fiber.stack_base);
	fiber->machine_stack_size = word_of(copy, size, &layout->fiber.stack_size);
	leave_guard(loader, fiber);
	fiber->stack_pointer = word_of(copy, size, &layout->fiber.context_stack_pointer);
	fiber->stack_base = ec_word_of(layout, copy, size, &layout->ec.machine_stack_start);
	fiber->vm_stack = ec_word_of(layout, copy, size, &layout->ec.vm_stack);
	fiber->vm_stack_size =
		ec_word_of(layout, copy, size, &layout->ec.vm_stack_size) * sizeof(uint64_t);
	if (fiber->status == RCORE_FIBER_STATUS_UNKNOWN)
		fiber->problem = rcore_problem(loader->snapshot,
					       rcore_error_create(RCORE_ERROR_CORRUPT,
								  "fiber at 0x%" PRIx64
								  ": status out of range",
								  address));
	else if (fiber->object && !rcore_wraps(loader->ruby, fiber->object, address))
		rcore_note_fiber(loader, fiber, "cont.self does not point to its Fiber object");
	return NULL;
}

/* Adds a fiber, or marks it as seen if it need not be decoded. */
static struct rcore_error *add_unless_unchanged(struct rcore_loader *loader, uint64_t address,
						bool certain)
{
	int index = rcore_unchanged_fiber(loader->ruby, address);
	if (index < 0)
		return add_fiber(loader, address, certain);
	loader->ruby->earlier_fibers->seen[index] = true;
	return NULL;
}

static struct rcore_error *add_found(void *context, uint64_t address)
{
	return add_unless_unchanged(context, address, true);
}

/*
 * Adds a fiber that a thread points to. If fibers are on a list, the search has
 * normally found it already. A list that was cut in two looks valid, but a
 * fiber of the missing part leads to the rest.
 */
static struct rcore_error *add_named(struct rcore_loader *loader, uint64_t address)
{
	enum { SEARCH_LIMIT = 4 };
	if (known(loader, address))
		return NULL;
	struct rcore_error *err = add_fiber(loader, address, true);
	if (err || loader->ruby->earlier_fibers ||
	    !loader->ruby->layout->traits.fibers_listed || loader->searches >= SEARCH_LIMIT)
		return err;
	loader->searches++;
	rcore_problem_add(loader->snapshot,
			  rcore_error_create(RCORE_ERROR_CORRUPT,
					     "fiber 0x%" PRIx64
					     " is not on the VM's fiber list: "
					     "parked fibers may be missing",
					     address));
	return rcore_fiber_search(loader->ruby, loader->process, loader->vm, address, add_found,
				  loader, loader->snapshot);
}

/*
 * Adds the fibers that a thread points to: the current one and its root fiber.
 */
static struct rcore_error *add_from_thread(struct rcore_loader *loader,
					   struct rcore_thread *thread)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	uint64_t ec, root;

	if (thread->status == RCORE_THREAD_STATUS_UNKNOWN)
		return NULL;
	if (!rcore_read_field(memory, thread->address, &layout->thread.root_fiber, &root) &&
	    root) {
		struct rcore_error *err = add_named(loader, root);
		if (err)
			return err;
	}
	enum rcore_fault fault =
		rcore_read_field(memory, thread->address, &layout->thread.ec, &ec);
	if (!fault && !ec && thread->status == RCORE_THREAD_KILLED)
		return NULL;
	if (fault || !ec) {
		if (!thread->problem)
			thread->problem =
				rcore_problem(loader->snapshot,
					      rcore_error_create(RCORE_ERROR_CORRUPT,
								 "thread at 0x%" PRIx64
								 " has no execution context",
								 thread->address));
		return NULL;
	}
	/* Does not use ec->fiber_ptr, because add_fiber() compares the two. */
	return add_named(loader, ec - (uint64_t)layout->fiber.saved_ec.offset);
}

/*
 * Adds the fibers that each fiber resumed or was resumed by. This is often the
 * only way to fibers whose Fiber object is in a corrupt heap. The list grows
 * during the loop.
 */
static struct rcore_error *add_chains(struct rcore_loader *loader)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		uint64_t address = loader->fibers.items[i].address;
		uint64_t prev = 0, resuming = 0;
		rcore_read_field(loader->ruby->memory, address, &layout->fiber.prev, &prev);
		rcore_fiber_resuming(loader->ruby, address, &resuming);
		struct rcore_error *err = add_unless_unchanged(loader, prev, false);
		if (!err)
			err = add_unless_unchanged(loader, resuming, false);
		if (err)
			return err;
	}
	return NULL;
}

/*
 * Any fiber leads to the VM's list of fibers. The main thread's current one is
 * the easiest to find.
 */
static uint64_t any_fiber(const struct rcore_loader *loader)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	for (size_t i = 0; i < loader->threads.count; i++) {
		uint64_t ec;
		if (!rcore_read_field(loader->ruby->memory, loader->threads.items[i].address,
				      &layout->thread.ec, &ec) &&
		    ec)
			return ec - (uint64_t)layout->fiber.saved_ec.offset;
	}
	return 0;
}

/*
 * Marks the fiber that its thread began with. CRuby sets th->root_fiber at the
 * first switch to another fiber; until then the current fiber is the root.
 */
static void mark_root(struct rcore_loader *loader, struct rcore_fiber *fiber)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	uint64_t thread, ec = 0, root = 0;
	if (rcore_read_field(memory, fiber->ec, &layout->ec.thread_ptr, &thread) || !thread ||
	    rcore_read_field(memory, thread, &layout->thread.ec, &ec) ||
	    rcore_read_field(memory, thread, &layout->thread.root_fiber, &root))
		return;
	bool is_listed = rcore_address_map_get(&loader->thread_at, thread) >= 0;
	fiber->is_current = is_listed && fiber->ec == ec;
	fiber->is_root = root ? root == fiber->address : fiber->ec == ec;
}

struct rcore_error *rcore_find_fibers(struct rcore_loader *loader)
{
	/*
	 * The search comes first because it finds fibers in the order of their
	 * age.
	 */
	struct rcore_error *err =
		rcore_fiber_search(loader->ruby, loader->process, loader->vm, any_fiber(loader),
				   add_found, loader, loader->snapshot);
	for (size_t i = 0; i < loader->threads.count && !err; i++)
		err = add_from_thread(loader, &loader->threads.items[i]);
	if (!err)
		err = add_chains(loader);
	for (size_t i = 0; i < loader->fibers.count && !err; i++)
		mark_root(loader, &loader->fibers.items[i]);
	return err;
}
