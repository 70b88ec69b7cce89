/* SPDX-License-Identifier: MIT */
#include "session/running_ahead.h"

#include <stdlib.h>

#include "base/grow.h"

/*
 * Up to this many bytes of stacks are always copied again. A megabyte takes 0.3
 * to 0.5 ms, and a stop takes some milliseconds anyway.
 */
enum { ALWAYS_COPIED = 4 << 20 };

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
	return is_equal(session, fiber->address, &layout->fiber.status, fiber->status) &&
	       is_equal(session, fiber->address, &layout->fiber.context_stack_pointer,
			fiber->stack_pointer) &&
	       is_equal(session, fiber->ec, &layout->ec.vm_stack, fiber->vm_stack) &&
	       (!fiber->frame_count ||
		is_equal(session, fiber->ec, &layout->ec.cfp, fiber->frames[0].cfp));
}

static void let_rest(struct rcore_ahead *ahead, const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_live *live = session->target.live;
	size_t saved = 0;
	if (session->settings.exact)
		return;
	for (size_t i = 0; i < first->fiber_count; i++) {
		const struct rcore_fiber *fiber = &first->fibers[i];
		ahead->fibers[i].rests =
			may_rest(session, first, fiber) && is_as_first(session, fiber);
		if (ahead->fibers[i].rests)
			saved += rest(live, fiber);
	}
	if (saved > ALWAYS_COPIED)
		return;
	rcore_live_rest_none(live);
	for (size_t i = 0; i < first->fiber_count; i++)
		ahead->fibers[i].rests = false;
}

/*
 * Returns a hash of a fiber in the copy: its struct, which contains its EC and
 * its saved stack pointer, and both of its stacks unless they rest.
 */
static uint64_t digest_of(const struct rcore_session *session, const struct rcore_fiber *fiber,
			  bool rests)
{
	struct rcore_live *live = session->target.live;
	size_t size = session->located.location.layout.fiber.size;
	if (rests)
		return rcore_live_digest(live, fiber->address, fiber->address + size);
	uint64_t parts[] = {
		rcore_live_digest(live, fiber->address, fiber->address + size),
		rcore_live_digest(live, fiber->machine_stack,
				  fiber->machine_stack + fiber->machine_stack_size),
		rcore_live_digest(live, fiber->vm_stack,
				  fiber->vm_stack + fiber->vm_stack_size),
	};
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	return (parts[0] * odd + parts[1]) * odd + parts[2];
}

static struct rcore_error *note_digests(struct rcore_ahead *ahead,
					const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	ahead->fibers = rcore_calloc(first->fiber_count, sizeof(*ahead->fibers));
	ahead->seen = rcore_calloc(first->fiber_count, sizeof(*ahead->seen));
	if (!ahead->fibers || !ahead->seen)
		return rcore_error_no_memory();
	let_rest(ahead, session);
	for (size_t i = 0; i < first->fiber_count; i++)
		ahead->fibers[i].digest =
			digest_of(session, &first->fibers[i], ahead->fibers[i].rests);
	return NULL;
}

/* Returns a thread's kernel thread at the stop; 0: unknown, or it has ended. */
static int tid_of(const struct rcore_snapshot *now, uint64_t thread)
{
	for (size_t i = 0; i < now->thread_count; i++)
		if (now->threads[i].address == thread)
			return now->threads[i].tid;
	return 0;
}

/* Notes for each fiber that rests whether its thread has slept. */
static struct rcore_error *note_sleepers(struct rcore_ahead *ahead,
					 const struct rcore_session *session,
					 const struct rcore_snapshot *now)
{
	enum { UNKNOWN, SLEPT, RAN };
	const struct rcore_snapshot *first = ahead->first;
	char *states = rcore_calloc(first->thread_count, 1);
	if (!states)
		return rcore_error_no_memory();
	for (size_t i = 0; i < first->fiber_count; i++) {
		int thread = first->fibers[i].thread;
		if (!ahead->fibers[i].rests)
			continue;
		if (states[thread] == UNKNOWN) {
			int tid = tid_of(now, first->threads[thread].address);
			bool slept = rcore_live_has_thread_slept(session->target.live, tid);
			states[thread] = slept ? SLEPT : RAN;
		}
		ahead->fibers[i].slept = states[thread] == SLEPT;
	}
	free(states);
	return NULL;
}

static struct rcore_error *index_unchanged(struct rcore_ahead *ahead)
{
	const struct rcore_snapshot *first = ahead->first;
	rcore_address_map_deinit(&ahead->unchanged);
	ahead->unchanged = (struct rcore_address_map){0};
	for (size_t i = 0; i < first->fiber_count; i++)
		if (ahead->fibers[i].is_same &&
		    !rcore_address_map_put(&ahead->unchanged, first->fibers[i].address, (int)i))
			return rcore_error_no_memory();
	return NULL;
}

static struct rcore_error *find_unchanged(struct rcore_ahead *ahead,
					  const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_live *live = session->target.live;
	for (size_t i = 0; i < first->fiber_count; i++) {
		const struct rcore_fiber *fiber = &first->fibers[i];
		struct rcore_ahead_fiber *known = &ahead->fibers[i];
		known->is_same = digest_of(session, fiber, known->rests) == known->digest;
		if (known->is_same || !known->rests)
			continue;
		wake(live, fiber);
		known->rests = false;
	}
	rcore_live_fetch(live);
	return index_unchanged(ahead);
}

/*
 * Copies again the stacks of fibers that have changed, are new or run, if they
 * rested. A new fiber may have got the stacks of one that has ended, and a
 * fiber that runs may have the same struct as before. Sets *ret_any if there
 * were any: they must be decoded again.
 */
static struct rcore_error *wake_changed(struct rcore_ahead *ahead,
					const struct rcore_session *session,
					const struct rcore_snapshot *changed, bool *ret_any)
{
	struct rcore_live *live = session->target.live;
	*ret_any = false;
	for (size_t i = 0; i < changed->fiber_count; i++) {
		const struct rcore_fiber *fiber = &changed->fibers[i];
		if (!wake(live, fiber))
			continue;
		*ret_any = true;
		int index = rcore_address_map_get(&ahead->unchanged, fiber->address);
		if (index >= 0)
			ahead->fibers[index].is_same = ahead->fibers[index].rests = false;
	}
	rcore_live_fetch(live);
	return *ret_any ? index_unchanged(ahead) : NULL;
}

static struct rcore_error *note_fibers(struct rcore_ahead *ahead,
				       const struct rcore_snapshot *snapshot)
{
	ahead->known = rcore_calloc(snapshot->fiber_count, sizeof(*ahead->known));
	if (!ahead->known)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		ahead->known[i] = snapshot->fibers[i].address;
	ahead->known_count = snapshot->fiber_count;
	return NULL;
}

static bool is_known(const struct rcore_address_map *indices, uint64_t address)
{
	return rcore_address_map_get(indices, address) >= 0;
}

/*
 * Notes the fibers that exist at the stop: first those of the first reading
 * that were found again, in the same order, then the new ones.
 */
static struct rcore_error *note_all_fibers(struct rcore_ahead *ahead,
					   const struct rcore_snapshot *changed)
{
	const struct rcore_snapshot *first = ahead->first;
	struct rcore_address_map now = {0}, before = {0};
	bool is_whole = true;
	size_t count = 0;
	free(ahead->known);
	ahead->known =
		rcore_calloc(first->fiber_count + changed->fiber_count, sizeof(*ahead->known));
	for (size_t i = 0; i < changed->fiber_count && is_whole; i++)
		is_whole = rcore_address_map_put(&now, changed->fibers[i].address, (int)i);
	for (size_t i = 0; i < first->fiber_count && is_whole && ahead->known; i++) {
		uint64_t address = first->fibers[i].address;
		is_whole = rcore_address_map_put(&before, address, (int)i);
		if (is_known(&now, address) ||
		    (ahead->seen[i] && is_known(&ahead->unchanged, address)))
			ahead->known[count++] = address;
	}
	for (size_t i = 0; i < changed->fiber_count && is_whole && ahead->known; i++)
		if (!is_known(&before, changed->fibers[i].address))
			ahead->known[count++] = changed->fibers[i].address;
	rcore_address_map_deinit(&now);
	rcore_address_map_deinit(&before);
	ahead->known_count = count;
	return is_whole && ahead->known ? NULL : rcore_error_no_memory();
}

/*
 * Decodes what differs from the first reading, and drops the result. This adds
 * the pages that the copy lacks, and shows which fibers exist.
 */
static struct rcore_error *decode_changed(struct rcore_ahead *ahead,
					  struct rcore_session *session)
{
	enum { ATTEMPTS = 3 };
	struct rcore_target *target = &session->target;
	struct rcore_moment moment;
	bool again = true;
	struct rcore_error *err = find_unchanged(ahead, session);
	for (int i = 0; i < ATTEMPTS && again && !err; i++) {
		target->unchanged_fibers = &ahead->unchanged;
		target->seen_fibers = ahead->seen;
		err = rcore_session_read(session, &moment);
		target->unchanged_fibers = NULL;
		target->seen_fibers = NULL;
		if (err)
			return err;
		err = wake_changed(ahead, session, moment.snapshot, &again);
		if (err || (again && i + 1 < ATTEMPTS))
			rcore_snapshot_free(moment.snapshot);
	}
	if (err)
		return err;
	err = note_sleepers(ahead, session, moment.snapshot);
	if (!err)
		err = note_all_fibers(ahead, moment.snapshot);
	if (!err && !session->settings.no_native)
		err = rcore_running_keep_stacks(target, moment.snapshot);
	if (!err)
		err = rcore_running_fds_read(&ahead->fds, target, moment.snapshot);
	rcore_snapshot_free(moment.snapshot);
	return err;
}

/* Does what must be done while the process is stopped. */
static struct rcore_error *read_stopped(struct rcore_ahead *ahead,
					struct rcore_session *session)
{
	const struct rcore_target *target = &session->target;
	struct rcore_error *err = rcore_running_fds_read(&ahead->fds, target, ahead->first);
	if (!err && !rcore_live_is_quiet(target->live))
		err = decode_changed(ahead, session);
	if (!err && !session->settings.no_native)
		err = rcore_running_keep_thread_stacks(target, ahead->first);
	return err;
}

/* Marks the fibers whose stacks may be older than the stop. */
static void mark_aged(const struct rcore_ahead *ahead, const struct rcore_session *session,
		      struct rcore_snapshot *snapshot)
{
	struct rcore_live *live = session->target.live;
	for (size_t i = 0; i < snapshot->fiber_count && !rcore_live_is_quiet(live); i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		int index = rcore_address_map_get(&ahead->unchanged, fiber->address);
		/* A new fiber has no frames. */
		if (index >= 0 && ahead->fibers[index].rests && !ahead->fibers[index].slept &&
		    fiber->status != RCORE_FIBER_CREATED)
			fiber->stack_age_ns = rcore_live_copy_age(live);
	}
}

static struct rcore_error *decode_copy(struct rcore_ahead *ahead, struct rcore_session *session,
				       struct rcore_moment *ret)
{
	struct rcore_target *target = &session->target;
	target->known_fibers = ahead->known;
	target->known_fiber_count = ahead->known_count;
	struct rcore_error *err = rcore_session_read(session, ret);
	target->known_fibers = NULL;
	if (err)
		return err;
	mark_aged(ahead, session, ret->snapshot);
	rcore_running_describe_gvl(session, ret->snapshot);
	if (!session->settings.no_native)
		err = rcore_running_keep_stacks(target, ret->snapshot);
	if (!err)
		err = rcore_running_fds_set(&ahead->fds, target, ret->snapshot);
	if (err)
		rcore_snapshot_free(ret->snapshot);
	return err;
}

struct rcore_error *rcore_ahead_read(struct rcore_ahead *ahead, struct rcore_session *session,
				     struct rcore_moment *ret, struct rcore_live_pause *pause,
				     bool *ret_missed)
{
	struct rcore_live *live = session->target.live;
	struct rcore_live_pause none;
	struct rcore_error *err = note_fibers(ahead, ahead->first);
	if (!err)
		err = rcore_live_copy_ahead(live);
	if (!err)
		err = note_digests(ahead, session);
	if (err)
		return err;
	rcore_running_check_gvl(session);
	err = rcore_live_begin(live, true);
	if (err)
		return err;
	rcore_running_time_gvl(session);
	err = read_stopped(ahead, session);
	rcore_live_release(live, pause);
	if (!err)
		err = decode_copy(ahead, session, ret);
	rcore_live_end(live, &none);
	*ret_missed = rcore_live_has_missed(live) || ahead->fds.read_count;
	return err;
}

void rcore_ahead_deinit(struct rcore_ahead *ahead)
{
	rcore_snapshot_free(ahead->first);
	free(ahead->fibers);
	free(ahead->seen);
	free(ahead->known);
	rcore_address_map_deinit(&ahead->unchanged);
	rcore_running_fds_deinit(&ahead->fds);
	*ahead = (struct rcore_ahead){0};
}
