/* SPDX-License-Identifier: MIT */
#include "session/running_ahead.h"

#include <stdlib.h>

#include "base/grow.h"

/* Returns a hash of a fiber in the copy: its struct and both of its stacks. */
static uint64_t digest_of(const struct rcore_session *session, const struct rcore_fiber *fiber)
{
	struct rcore_live *live = session->target.live;
	size_t size = session->located.location.layout.fiber.size;
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
	ahead->digests = rcore_calloc(first->fiber_count, sizeof(*ahead->digests));
	if (!ahead->digests)
		return rcore_error_no_memory();
	for (size_t i = 0; i < first->fiber_count; i++)
		ahead->digests[i] = digest_of(session, &first->fibers[i]);
	return NULL;
}

static struct rcore_error *find_unchanged(struct rcore_ahead *ahead,
					  const struct rcore_session *session)
{
	const struct rcore_snapshot *first = ahead->first;
	for (size_t i = 0; i < first->fiber_count; i++) {
		const struct rcore_fiber *fiber = &first->fibers[i];
		if (digest_of(session, fiber) == ahead->digests[i] &&
		    !rcore_address_map_put(&ahead->unchanged, fiber->address, (int)i))
			return rcore_error_no_memory();
	}
	return NULL;
}

static struct rcore_error *note_fibers(struct rcore_ahead *ahead,
				       const struct rcore_snapshot *snapshot)
{
	free(ahead->known);
	ahead->known = rcore_calloc(snapshot->fiber_count, sizeof(*ahead->known));
	if (!ahead->known)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		ahead->known[i] = snapshot->fibers[i].address;
	ahead->known_count = snapshot->fiber_count;
	return NULL;
}

/*
 * Decodes what differs from the first reading, and drops the result. This adds
 * the pages that the copy lacks, and shows which fibers exist.
 */
static struct rcore_error *decode_changed(struct rcore_ahead *ahead,
					  struct rcore_session *session)
{
	struct rcore_target *target = &session->target;
	struct rcore_moment moment;
	struct rcore_error *err = find_unchanged(ahead, session);
	if (err)
		return err;
	target->unchanged_fibers = &ahead->unchanged;
	err = rcore_session_read(session, &moment);
	target->unchanged_fibers = NULL;
	if (err)
		return err;
	err = note_fibers(ahead, moment.snapshot);
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
	free(ahead->digests);
	free(ahead->known);
	rcore_address_map_deinit(&ahead->unchanged);
	rcore_running_fds_deinit(&ahead->fds);
	*ahead = (struct rcore_ahead){0};
}
