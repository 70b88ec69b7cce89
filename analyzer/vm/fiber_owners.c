/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "vm/fiber_link.h"
#include "vm/loader.h"
#include "vm/problem.h"

/*
 * Returns the index of the fiber at `other`, or -1 if `other` is 0. If it is
 * not a fiber, sets the problem of `fiber` to `missing` and returns -1, too.
 */
static int linked(struct rcore_loader *loader, struct rcore_fiber *fiber, uint64_t other,
		  const char *missing)
{
	if (!other)
		return -1;
	int index = rcore_address_map_get(&loader->fiber_at, other);
	if (index < 0)
		rcore_note_fiber(loader, fiber, missing);
	return index;
}

/*
 * Before 3.0, a fiber does not point to the one that it resumed; only that one
 * points back, by prev. A transfer does not set it (fiber_switch() of cont.c).
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
			rcore_note_fiber(loader, fiber, "it belongs to no thread");
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
			       "prev, the fiber that resumed it, does not point to a fiber");
		fiber->resuming =
			linked(loader, fiber, resuming,
			       "resuming_fiber, which it resumed, does not point to a fiber");
	}
	if (!rcore_has(&layout->fiber.resuming_fiber))
		turn_chains(loader);
	return NULL;
}

/*
 * Sets the fiber's id. The root fiber is F0. Another one's number is `place`,
 * its position among the others, unless snapshot->ids keeps numbers. A fiber's
 * age there is how far it has come, as a fiber never becomes younger.
 */
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
			 * If the root fiber was not found, the others begin at
			 * F1 all the same.
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
 * Checks that each thread has a current fiber. It has none if rb_thread_t.ec
 * is the EC of a fiber whose thread_ptr points to another thread.
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
