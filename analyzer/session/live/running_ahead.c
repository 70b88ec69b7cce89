/* SPDX-License-Identifier: MIT */
#include "session/live/running_rest.h"

#include <stdlib.h>

#include "base/grow.h"

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

/*
 * Notes the fibers that existed at the stop: first those of the first reading
 * that were found again, in the same order, then the new ones.
 */
static struct rcore_error *note_all_fibers(struct rcore_ahead *ahead)
{
	const struct rcore_snapshot *first = ahead->first, *changed = ahead->changed;
	const struct rcore_earlier_fibers *earlier = &ahead->earlier;
	struct rcore_address_map now = {0};
	bool is_whole = true;
	size_t count = 0;
	free(ahead->known);
	ahead->known =
		rcore_calloc(first->fiber_count + changed->fiber_count, sizeof(*ahead->known));
	for (size_t i = 0; i < changed->fiber_count && is_whole; i++)
		is_whole = rcore_address_map_put(&now, changed->fibers[i].address, (int)i);
	for (size_t i = 0; i < first->fiber_count && is_whole && ahead->known; i++) {
		uint64_t address = first->fibers[i].address;
		if (rcore_address_map_get(&now, address) >= 0 ||
		    (earlier->seen[i] && earlier->unchanged[i]))
			ahead->known[count++] = address;
	}
	for (size_t i = 0; i < changed->fiber_count && is_whole && ahead->known; i++)
		if (rcore_address_map_get(&earlier->indices, changed->fibers[i].address) < 0)
			ahead->known[count++] = changed->fibers[i].address;
	rcore_address_map_deinit(&now);
	ahead->known_count = count;
	return is_whole && ahead->known ? NULL : rcore_error_no_memory();
}

/*
 * Decodes what differs from the first reading; only the fibers are kept. This
 * adds the pages that the copy lacks, and shows which fibers exist.
 */
static struct rcore_error *decode_changed(struct rcore_ahead *ahead,
					  struct rcore_session *session)
{
	enum { ATTEMPTS = 3 };
	struct rcore_target *target = &session->target;
	struct rcore_moment moment;
	bool again = true;
	struct rcore_error *err = NULL;
	if (ahead->is_exact)
		rcore_ahead_wake_unless_slept(ahead, session);
	rcore_ahead_find_unchanged(ahead, session);
	for (int i = 0; i < ATTEMPTS && again && !err; i++) {
		rcore_snapshot_free(ahead->changed);
		ahead->changed = NULL;
		target->earlier_fibers = &ahead->earlier;
		err = rcore_session_read_again(session, &moment);
		target->earlier_fibers = NULL;
		if (err)
			return err;
		ahead->changed = moment.snapshot;
		again = rcore_ahead_wake_changed(ahead, session, moment.snapshot);
	}
	rcore_ahead_note_sleepers(ahead, session, ahead->changed);
	if (!session->settings.no_native)
		err = rcore_running_keep_stacks(target, ahead->changed);
	if (!err)
		err = rcore_running_fds_note(&ahead->fds, ahead->changed);
	if (!err)
		err = rcore_running_fds_read(&ahead->fds, target);
	return err;
}

/*
 * Does what must be done while the process is stopped. decode_changed() also
 * keeps the stacks of threads.
 */
static struct rcore_error *read_stopped(struct rcore_ahead *ahead,
					struct rcore_session *session)
{
	const struct rcore_target *target = &session->target;
	struct rcore_error *err = rcore_running_fds_read(&ahead->fds, target);
	if (err)
		return err;
	if (!rcore_live_is_quiet(target->live))
		return decode_changed(ahead, session);
	if (!session->settings.no_native)
		rcore_running_keep_thread_stacks(target, &ahead->gaps);
	return NULL;
}

/* Marks the fibers whose stacks may be older than the stop. */
static void mark_aged(const struct rcore_ahead *ahead, const struct rcore_session *session,
		      struct rcore_snapshot *snapshot)
{
	struct rcore_live *live = session->target.live;
	for (size_t i = 0; i < snapshot->fiber_count && !rcore_live_is_quiet(live); i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		int index = rcore_address_map_get(&ahead->earlier.indices, fiber->address);
		bool rests = index >= 0 && ahead->earlier.unchanged[index] &&
			     ahead->fibers[index].rests;
		/* A new fiber has no frames. */
		if (rests && !rcore_ahead_has_slept(ahead, (size_t)index) &&
		    fiber->status != RCORE_FIBER_CREATED)
			fiber->stack_age_ns = rcore_live_copy_age(live);
	}
}

static struct rcore_error *decode_copy(struct rcore_ahead *ahead, struct rcore_session *session,
				       struct rcore_moment *ret)
{
	struct rcore_target *target = &session->target;
	struct rcore_error *err = ahead->changed ? note_all_fibers(ahead) : NULL;
	if (err)
		return err;
	target->known_fibers = ahead->known;
	target->known_fiber_count = ahead->known_count;
	err = rcore_session_read(session, ret);
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
		err = rcore_running_fds_note(&ahead->fds, ahead->first);
	if (!err)
		err = rcore_running_gaps_find(ahead->first, true, &ahead->gaps);
	if (!err && !session->settings.no_native)
		rcore_running_keep_sleeping_stacks(&session->target, &ahead->gaps);
	if (!err)
		err = rcore_live_copy_ahead(live);
	if (!err)
		err = rcore_ahead_note_fibers(ahead, session);
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
	rcore_snapshot_free(ahead->changed);
	free(ahead->fibers);
	free(ahead->threads);
	free(ahead->gaps.items);
	free(ahead->known);
	free(ahead->earlier.unchanged);
	free(ahead->earlier.seen);
	free(ahead->earlier.objects);
	free(ahead->earlier.addresses);
	rcore_address_map_deinit(&ahead->earlier.indices);
	rcore_running_fds_deinit(&ahead->fds);
	*ahead = (struct rcore_ahead){0};
}
