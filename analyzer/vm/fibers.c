/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/object/heap.h"
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

static void note(struct rcore_loader *loader, struct rcore_fiber *fiber, const char *what)
{
	if (!fiber->problem)
		fiber->problem = rcore_problem(loader->snapshot,
					       rcore_error_create(RCORE_ERROR_CORRUPT,
								  "fiber at 0x%" PRIx64 ": %s",
								  fiber->address, what));
}

/*
 * Whether the EC of the context at `address` says that it belongs to another
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
 * Whether a context has a copy of the EC of the fiber that created it. That is
 * so for a callcc continuation, and for a moment for a new fiber:
 * fiber_t_alloc() of cont.c puts it on the list, and lets its object point to
 * it, before it has an EC of its own.
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
 * Adds the fiber at `address`. If `certain`, nothing else can be there, because
 * only fibers are pointed to in this way: a struct that fails its check is then
 * kept, with a problem.
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
	if (!proved) {
		fiber->problem = rcore_problem(
			loader->snapshot,
			fault ? rcore_fault_error(fault, "fiber", address, size)
			      : rcore_error_create(RCORE_ERROR_CORRUPT,
						   "no rb_fiber_t at 0x%" PRIx64
						   " (its EC does not point back)",
						   address));
		return NULL;
	}
	fiber->object = word_of(copy, size, &layout->fiber.self);
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
		note(loader, fiber, "no Fiber object where its field points");
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
 * normally found it. A list that is cut in two shows no fault; a fiber of the
 * missing part then leads to the rest.
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
	/* Not through ec->fiber_ptr: add_fiber() compares the two. */
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

static int linked(struct rcore_loader *loader, struct rcore_fiber *fiber, uint64_t other,
		  const char *missing)
{
	if (!other)
		return -1;
	int index = rcore_address_map_get(&loader->fiber_at, other);
	if (index < 0)
		note(loader, fiber, missing);
	return index;
}

/*
 * Before 3.0, only the resumed fiber points to the other one: only a resume
 * sets its prev (fiber_switch() of cont.c).
 */
static void turn_chains(struct rcore_loader *loader)
{
	for (size_t i = 0; i < loader->fibers.count; i++) {
		int other = loader->fibers.items[i].resumed_by;
		if (other >= 0 && loader->fibers.items[other].resuming < 0)
			loader->fibers.items[other].resuming = (int)i;
	}
}

/*
 * Sets each fiber's thread. A thread that is no longer in a list has ended; a
 * living fiber keeps the Thread object and so the rb_thread_t alive
 * (cont_mark() of cont.c).
 */
static struct rcore_error *find_owners(struct rcore_loader *loader)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		struct rcore_fiber *fiber = &loader->fibers.items[i];
		uint64_t thread;
		if (rcore_read_field(loader->ruby->memory, fiber->ec, &layout->ec.thread_ptr,
				     &thread) ||
		    !thread) {
			note(loader, fiber, "it belongs to no thread");
			continue;
		}
		fiber->thread = rcore_address_map_get(&loader->thread_at, thread);
		if (fiber->thread < 0) {
			struct rcore_error *err =
				rcore_load_thread(loader, thread, -1, true, &fiber->thread);
			if (err)
				return err;
		}
		uint64_t prev = 0, resuming = 0;
		rcore_read_field(loader->ruby->memory, fiber->address, &layout->fiber.prev,
				 &prev);
		rcore_fiber_resuming(loader->ruby, fiber->address, &resuming);
		fiber->resumed_by =
			linked(loader, fiber, prev,
			       "no fiber where its field for the one that resumed it points");
		fiber->resuming =
			linked(loader, fiber, resuming,
			       "no fiber where its field for the one it resumed points");
	}
	if (!rcore_has(&layout->fiber.resuming_fiber))
		turn_chains(loader);
	return NULL;
}

/* The root fiber is F0; `place` is a fiber's position among the others. */
static bool name_fiber(struct rcore_loader *loader, struct rcore_fiber *fiber, size_t place)
{
	static const int ages[] = {
		[RCORE_FIBER_CREATED] = 0,        [RCORE_FIBER_RESUMED] = 1,
		[RCORE_FIBER_SUSPENDED] = 1,      [RCORE_FIBER_TERMINATED] = 2,
		[RCORE_FIBER_STATUS_UNKNOWN] = 2,
	};
	const char *thread = loader->threads.items[fiber->thread].id;
	const struct rcore_who who = {thread, fiber->address, fiber->object,
				      ages[fiber->status]};
	if (fiber->is_root)
		place = 0;
	else if (loader->snapshot->ids &&
		 !rcore_ids_number(loader->snapshot->ids, &who, &place))
		return false;
	snprintf(fiber->id, sizeof(fiber->id), "%s.F%zu", thread, place);
	return true;
}

/*
 * Numbers the fibers of a thread: the root first, then the others in the order
 * in which they were found.
 */
static bool number(struct rcore_loader *loader)
{
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < loader->fibers.count; i++) {
			struct rcore_fiber *fiber = &loader->fibers.items[i];
			if (fiber->thread < 0 || fiber->is_root != (pass == 0))
				continue;
			struct rcore_thread *thread = &loader->threads.items[fiber->thread];
			/*
			 * A thread that has lost its root fiber also starts at
			 * F1.
			 */
			size_t place = thread->fiber_count++;
			thread->fibers[place] = (int)i;
			bool rooted = loader->fibers.items[thread->fibers[0]].is_root;
			if (!name_fiber(loader, fiber, place + !rooted))
				return false;
			if (fiber->is_current)
				thread->current_fiber = (int)i;
		}
	}
	return true;
}

static struct rcore_error *assign(struct rcore_loader *loader)
{
	size_t *counts = rcore_calloc(loader->threads.count, sizeof(*counts));
	if (!counts)
		return rcore_error_no_memory();
	size_t lost = 0;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		struct rcore_fiber *fiber = &loader->fibers.items[i];
		if (fiber->thread >= 0) {
			counts[fiber->thread]++;
		} else {
			snprintf(fiber->id, sizeof(fiber->id), "X.F%zu", ++lost);
		}
	}
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < loader->threads.count && !err; i++) {
		loader->threads.items[i].fibers = rcore_arena_alloc(
			&loader->snapshot->arena, (counts[i] + 1) * sizeof(int));
		if (!loader->threads.items[i].fibers)
			err = rcore_error_no_memory();
	}
	free(counts);
	if (!err && !number(loader))
		err = rcore_error_no_memory();
	return err;
}

/*
 * Two pointers say what a thread runs and whose fiber that is; checks that they
 * agree.
 */
static void check_current(struct rcore_loader *loader)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	for (size_t i = 0; i < loader->threads.count; i++) {
		struct rcore_thread *thread = &loader->threads.items[i];
		uint64_t ec;
		if (thread->is_ended || thread->problem || thread->current_fiber >= 0 ||
		    rcore_read_field(loader->ruby->memory, thread->address, &layout->thread.ec,
				     &ec) ||
		    !ec)
			continue;
		thread->problem = rcore_problem(
			loader->snapshot, rcore_error_create(RCORE_ERROR_CORRUPT,
							     "thread at 0x%" PRIx64
							     " runs a fiber of another thread",
							     thread->address));
	}
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

struct rcore_error *rcore_assign_fibers(struct rcore_loader *loader)
{
	struct rcore_error *err = find_owners(loader);
	if (!err)
		err = assign(loader);
	if (!err) {
		check_current(loader);
		rcore_mark_parked(loader);
	}
	return err;
}
