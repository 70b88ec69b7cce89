/* SPDX-License-Identifier: MIT */
#include "session/live/running_rest.h"

#include <stdlib.h>

#include "base/grow.h"
#include "vm/find/fiber_search.h"

/*
 * If all stacks together are smaller than this, only those of threads that have
 * slept rest. Copying a megabyte takes 0.2 to 0.5 ms, and a stop takes some
 * milliseconds anyway.
 */
enum { ALWAYS_EXACT = 4 << 20 };

/*
 * Returns whether the stacks of a fiber cannot change until it runs. Others may
 * write to a stack only if it contains a node of a list of waiters.
 */
static bool may_rest(const struct rcore_session *session, const struct rcore_snapshot *snapshot,
		     const struct rcore_fiber *fiber)
{
	static const bool has_node[RCORE_WAIT_KINDS] = {
		[RCORE_WAIT_MUTEX] = true,     [RCORE_WAIT_MONITOR] = true,
		[RCORE_WAIT_POP] = true,       [RCORE_WAIT_PUSH] = true,
		[RCORE_WAIT_CONDITION] = true, [RCORE_WAIT_JOIN] = true,
		[RCORE_WAIT_PROCESS] = true,   [RCORE_WAIT_RACTOR] = true,
		[RCORE_WAIT_SCHEDULER] = true,
	};
	/* From 4.0 on, those that IO#close must wake are on a list, too. */
	bool io = fiber->wait && fiber->wait->kind == RCORE_WAIT_IO &&
		  rcore_has(&session->located.location.layout.io.blocking_operations);
	return !io && !fiber->is_root && !fiber->is_current && !fiber->problem &&
	       fiber->thread >= 0 && !snapshot->threads[fiber->thread].is_ended &&
	       (fiber->status == RCORE_FIBER_SUSPENDED ||
		fiber->status == RCORE_FIBER_CREATED) &&
	       !(fiber->wait &&
		 (fiber->wait->source == RCORE_WAIT_BY_VM || has_node[fiber->wait->kind]));
}

static size_t rest(struct rcore_live *live, const struct rcore_fiber *fiber)
{
	return rcore_live_rest(live, fiber->machine_stack,
			       fiber->machine_stack + fiber->machine_stack_size) +
	       rcore_live_rest(live, fiber->vm_stack, fiber->vm_stack + fiber->vm_stack_size);
}

/* Returns whether any page of its stacks rested. */
static bool wake(struct rcore_live *live, const struct rcore_fiber *fiber)
{
	bool native = rcore_live_wake(live, fiber->machine_stack,
				      fiber->machine_stack + fiber->machine_stack_size);
	return rcore_live_wake(live, fiber->vm_stack, fiber->vm_stack + fiber->vm_stack_size) ||
	       native;
}

static bool is_equal(const struct rcore_session *session, uint64_t base,
		     const struct rcore_field *field, uint64_t wanted)
{
	uint64_t value;
	return !rcore_has(field) ||
	       (!rcore_read_field(session->target.memory, base, field, &value) &&
		value == wanted);
}

/*
 * Returns whether the copy has a fiber as the first reading found it. After
 * that reading, and before the copy, the fiber may have ended, and another one
 * may have got its stacks.
 */
static bool is_as_first(const struct rcore_session *session, const struct rcore_fiber *fiber)
{
	const struct rcore_layout *layout = &session->located.location.layout;
	return is_equal(session, fiber->address, &layout->fiber.self, fiber->object) &&
	       is_equal(session, fiber->address, &layout->fiber.status, fiber->status) &&
	       is_equal(session, fiber->address, &layout->fiber.context_stack_pointer,
			fiber->stack_pointer) &&
	       is_equal(session, fiber->ec, &layout->ec.vm_stack, fiber->vm_stack) &&
	       (!fiber->frame_count ||
		is_equal(session, fiber->ec, &layout->ec.cfp, fiber->frames[0].cfp));
}

/* A part of a fiber. */
struct span {
	uint64_t start, size;
};

enum { STRUCT, MACHINE_STACK, VM_STACK };

/* The struct contains the EC and the saved stack pointer. */
static struct span span_of(const struct rcore_session *session, const struct rcore_fiber *fiber,
			   int part)
{
	const struct span spans[RCORE_AHEAD_PARTS] = {
		[STRUCT] = {fiber->address, session->located.location.layout.fiber.size},
		[MACHINE_STACK] = {fiber->machine_stack, fiber->machine_stack_size},
		[VM_STACK] = {fiber->vm_stack, fiber->vm_stack_size},
	};
	return spans[part];
}

static struct rcore_live_parked parked_of(const struct rcore_session *session,
					  const struct rcore_fiber *fiber)
{
	struct rcore_live_parked ret = {0};
	struct span head = span_of(session, fiber, STRUCT);
	ret.head.start = head.start;
	ret.head.end = head.start + head.size;
	for (int part = MACHINE_STACK; part <= VM_STACK; part++) {
		struct span stack = span_of(session, fiber, part);
		ret.stacks[part - MACHINE_STACK].start = stack.start;
		ret.stacks[part - MACHINE_STACK].end = stack.start + stack.size;
	}
	return ret;
}

/*
 * Wakes the fibers that may have run while their stacks were copied.
 */
static struct rcore_error *wake_inconsistent(struct rcore_ahead *ahead,
					     const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_live *live = session->target.live;
	struct rcore_live_parked *parked = rcore_calloc(first->fiber_count, sizeof(*parked));
	size_t count = 0, known = 0;
	if (!parked)
		return rcore_error_no_memory();
	for (size_t i = 0; i < first->fiber_count; i++)
		if (ahead->fibers[i].rests)
			parked[count++] = parked_of(session, &first->fibers[i]);
	rcore_live_copy_consistent(live, parked, count);
	for (size_t i = 0; i < first->fiber_count; i++) {
		if (!ahead->fibers[i].rests || parked[known++].is_consistent)
			continue;
		ahead->fibers[i].rests = false;
		wake(live, &first->fibers[i]);
	}
	free(parked);
	return NULL;
}

static struct rcore_error *let_rest(struct rcore_ahead *ahead,
				    const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_live *live = session->target.live;
	size_t saved = 0;
	if (session->settings.exact)
		return NULL;
	for (size_t i = 0; i < first->fiber_count; i++) {
		const struct rcore_fiber *fiber = &first->fibers[i];
		ahead->fibers[i].rests =
			ahead->fibers[i].is_as_first && may_rest(session, first, fiber);
		if (!ahead->fibers[i].rests)
			continue;
		saved += rest(live, fiber);
		ahead->threads[fiber->thread].has_resting = true;
	}
	ahead->is_exact = saved <= ALWAYS_EXACT;
	return ahead->is_exact ? NULL : wake_inconsistent(ahead, session);
}

/* Returns how many parts are compared. */
static int parts_of(bool rests)
{
	return rests ? STRUCT + 1 : RCORE_AHEAD_PARTS;
}

static uint64_t digest_of(const struct rcore_session *session, const struct span *span)
{
	return rcore_live_digest(session->target.live, span->start, span->start + span->size);
}

/* Returns the Fiber object that the copy has for a fiber; 0: none. */
static uint64_t object_of(const struct rcore_session *session, const struct rcore_fiber *fiber)
{
	return rcore_is_fiber(session->target.memory, &session->located.location.layout,
			      fiber->object, fiber->address)
		       ? fiber->object
		       : 0;
}

/*
 * A running thread may have called something else between the first reading and
 * the copy. If it got no processor after that, its fiber still equals the copy,
 * but not the first reading.
 */
static bool may_run(const struct rcore_fiber *fiber)
{
	return fiber->is_current && !fiber->wait;
}

struct rcore_error *rcore_ahead_note_fibers(struct rcore_ahead *ahead,
					    const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_earlier_fibers *earlier = &ahead->earlier;
	ahead->fibers = rcore_calloc(first->fiber_count, sizeof(*ahead->fibers));
	ahead->threads = rcore_calloc(first->thread_count, sizeof(*ahead->threads));
	earlier->unchanged = rcore_calloc(first->fiber_count, sizeof(*earlier->unchanged));
	earlier->seen = rcore_calloc(first->fiber_count, sizeof(*earlier->seen));
	earlier->objects = rcore_calloc(first->fiber_count, sizeof(*earlier->objects));
	earlier->addresses = rcore_calloc(first->fiber_count, sizeof(*earlier->addresses));
	if (!ahead->fibers || !ahead->threads || !earlier->unchanged || !earlier->seen ||
	    !earlier->objects || !earlier->addresses)
		return rcore_error_no_memory();
	earlier->count = first->fiber_count;
	for (size_t i = 0; i < first->fiber_count; i++)
		ahead->fibers[i].is_as_first = is_as_first(session, &first->fibers[i]);
	struct rcore_error *err = let_rest(ahead, session);
	if (err)
		return err;
	rcore_live_note_awake(session->target.live);
	for (size_t i = 0; i < first->fiber_count; i++) {
		const struct rcore_fiber *fiber = &first->fibers[i];
		if (!rcore_address_map_put(&earlier->indices, fiber->address, (int)i))
			return rcore_error_no_memory();
		earlier->addresses[i] = fiber->address;
		earlier->objects[i] = object_of(session, fiber);
		struct span head = span_of(session, fiber, STRUCT);
		ahead->fibers[i].head = rcore_live_span(session->target.live, head.start,
							head.start + head.size);
		ahead->fibers[i].may_run = may_run(fiber);
		bool rests = ahead->fibers[i].rests && !ahead->is_exact;
		for (int part = STRUCT; part < parts_of(rests); part++) {
			struct span span = span_of(session, fiber, part);
			ahead->fibers[i].digests[part] = digest_of(session, &span);
		}
	}
	return NULL;
}

/*
 * Returns a thread's kernel thread at the stop; 0: unknown, or it has ended.
 * Most often, the thread has the index `guess`.
 */
static int tid_of(const struct rcore_snapshot *now, uint64_t thread, size_t guess)
{
	if (guess < now->thread_count && now->threads[guess].address == thread)
		return now->threads[guess].tid;
	for (size_t i = 0; i < now->thread_count; i++)
		if (now->threads[i].address == thread)
			return now->threads[i].tid;
	return 0;
}

void rcore_ahead_note_sleepers(struct rcore_ahead *ahead, const struct rcore_session *session,
			       const struct rcore_snapshot *now)
{
	const struct rcore_snapshot *first = ahead->first;
	for (size_t i = 0; i < first->thread_count; i++)
		if (ahead->threads[i].has_resting)
			ahead->threads[i].slept = rcore_live_has_thread_slept(
				session->target.live,
				tid_of(now, first->threads[i].address, i));
}

bool rcore_ahead_has_slept(const struct rcore_ahead *ahead, size_t fiber)
{
	return ahead->threads[ahead->first->fibers[fiber].thread].slept;
}

/*
 * Returns whether a fiber is as it was copied ahead. If a page of it is not,
 * the cause may be something else in that page. Thousands of fibers may rest:
 * if no page of a struct has changed, nothing but `known` is read.
 */
static bool is_same(const struct rcore_session *session, const struct rcore_fiber *fiber,
		    const struct rcore_ahead_fiber *known, bool are_counted)
{
	if (are_counted && known->rests &&
	    rcore_live_is_span_same(session->target.live, known->head))
		return true;
	for (int part = STRUCT; part < parts_of(known->rests); part++) {
		struct span span = span_of(session, fiber, part);
		if (!rcore_live_is_same(session->target.live, span.start,
					span.start + span.size) &&
		    digest_of(session, &span) != known->digests[part])
			return false;
	}
	return true;
}

void rcore_ahead_wake_unless_slept(struct rcore_ahead *ahead,
				   const struct rcore_session *session)
{
	rcore_ahead_note_sleepers(ahead, session, ahead->first);
	for (size_t i = 0; i < ahead->first->fiber_count; i++)
		if (ahead->fibers[i].rests && !rcore_ahead_has_slept(ahead, i)) {
			wake(session->target.live, &ahead->first->fibers[i]);
			ahead->fibers[i].rests = false;
		}
	rcore_live_fetch(session->target.live);
}

void rcore_ahead_find_unchanged(struct rcore_ahead *ahead, const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_live *live = session->target.live;
	const bool are_counted = rcore_live_count_changes(live);
	for (size_t i = 0; i < first->fiber_count; i++) {
		const struct rcore_fiber *fiber = &first->fibers[i];
		struct rcore_ahead_fiber *known = &ahead->fibers[i];
		ahead->earlier.unchanged[i] = known->is_as_first && !known->may_run &&
					      is_same(session, fiber, known, are_counted);
		if (ahead->earlier.unchanged[i] || !known->rests)
			continue;
		wake(live, fiber);
		known->rests = false;
	}
	rcore_live_fetch(live);
}

bool rcore_ahead_wake_changed(struct rcore_ahead *ahead, const struct rcore_session *session,
			      const struct rcore_snapshot *changed)
{
	struct rcore_live *live = session->target.live;
	bool any = false;
	for (size_t i = 0; i < changed->fiber_count; i++) {
		const struct rcore_fiber *fiber = &changed->fibers[i];
		if (!wake(live, fiber))
			continue;
		any = true;
		int index = rcore_address_map_get(&ahead->earlier.indices, fiber->address);
		if (index >= 0)
			ahead->earlier.unchanged[index] = ahead->fibers[index].rests = false;
	}
	rcore_live_fetch(live);
	return any;
}
