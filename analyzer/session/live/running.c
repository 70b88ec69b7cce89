/* SPDX-License-Identifier: MIT */
#include "session/live/running.h"

#include "base/sized.h"
#include "session/layout/examine.h"
#include "session/load.h"
#include "session/pack/pack_live.h"
#include "session/live/running_ahead.h"
#include "session/layout/trial.h"

static int outer_tid(const struct rcore_session *session, int tid)
{
	return rcore_live_inner_pid(session->target.live)
		       ? rcore_live_outer_tid(session->target.live, tid)
		       : 0;
}

static void describe(const struct rcore_session *session, const struct rcore_live_pause *pause,
		     struct rcore_snapshot *snapshot)
{
	const struct rcore_live_facts facts = {
		.present = true,
		.stopped = !session->settings.no_stop,
		.pause_ns = pause->nanoseconds,
		.thread_count = pause->thread_count,
		.inner_pid = rcore_live_inner_pid(session->target.live),
	};
	bool marks = pause->overdue && session->settings.max_pause_ms;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->threads[i].outer_tid = outer_tid(session, snapshot->threads[i].tid);
	for (size_t i = 0; i < snapshot->other_count; i++)
		snapshot->others[i].outer_tid = outer_tid(session, snapshot->others[i].tid);
	rcore_running_describe(&facts, pause->unstopped_count, pause->overdue && !marks,
			       snapshot);
	if (marks)
		rcore_running_mark_late(session, snapshot);
}

/* Keeps the machine stacks, unless nothing will be unwound. */
static struct rcore_error *keep_stacks(const struct rcore_session *session,
				       const struct rcore_snapshot *snapshot)
{
	if (session->settings.no_native || session->settings.no_stop)
		return NULL;
	return rcore_running_keep_stacks(&session->target, snapshot);
}

/* Names the cause of an error: nothing could be read after the stop. */
static struct rcore_error *out_of_time(const struct rcore_session *session,
				       struct rcore_error *err)
{
	if (err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	unsigned limit = (unsigned)session->settings.max_pause_ms;
	struct rcore_error *ret = rcore_error_create(
		RCORE_ERROR_LIMIT,
		"process %d was resumed after %u ms, before rcore had read enough of it; %s, "
		"or write a core with `gcore %d` and analyze that (%s)",
		session->target.process->pid, limit ? limit : RCORE_STOP_LIMIT_MS,
		limit ? "allow a longer --max-pause" : "this machine is busy: try again",
		session->target.process->pid, err->message);
	rcore_error_free(err);
	return ret;
}

/* Completes the snapshot after the process was resumed. */
static struct rcore_error *conclude(struct rcore_session *session, struct rcore_error *err,
				    const struct rcore_live_pause *pause,
				    struct rcore_snapshot *snapshot)
{
	session->overdue = pause->overdue;
	if (err && pause->overdue)
		return out_of_time(session, err);
	if (err)
		return err;
	err = rcore_running_sockets(&session->target, snapshot);
	if (err)
		rcore_snapshot_free(snapshot);
	else
		describe(session, pause, snapshot);
	return err;
}

/* Reads what memory does not show: the GVL's holder, stacks, descriptors. */
static struct rcore_error *read_more(struct rcore_session *session,
				     struct rcore_snapshot *snapshot)
{
	const struct rcore_target *target = &session->target;
	struct rcore_running_fds fds = {0};
	rcore_running_describe_gvl(session, snapshot);
	struct rcore_error *err = keep_stacks(session, snapshot);
	if (!err)
		err = rcore_running_fds_set(&fds, target, snapshot);
	if (!err && target->recorder)
		rcore_session_keep_recorded(target);
	rcore_running_fds_deinit(&fds);
	return err;
}

/*
 * Reads the process once, and stops it until all is decoded. Starts with one
 * copy of all pages that the previous reading needed. `before` is how long an
 * earlier reading stopped the process, in nanoseconds.
 */
static struct rcore_error *read_once(struct rcore_session *session, uint64_t before,
				     struct rcore_moment *ret)
{
	const struct rcore_target *target = &session->target;
	struct rcore_live_pause pause;
	if (target->recorder)
		rcore_session_keep_recorded(target);
	rcore_running_check_gvl(session);
	rcore_live_read_late(target->live, session->settings.max_pause_ms != 0);
	struct rcore_error *err = rcore_live_begin(target->live, !session->settings.no_stop);
	if (err)
		return err;
	rcore_running_time_gvl(session);
	err = rcore_session_read(session, ret);
	if (!err) {
		err = read_more(session, ret->snapshot);
		if (err)
			rcore_snapshot_free(ret->snapshot);
	}
	rcore_live_end(target->live, &pause);
	rcore_live_read_late(target->live, false);
	pause.nanoseconds += before;
	return conclude(session, err, &pause, ret->snapshot);
}

/*
 * Stops the process as briefly as possible. If something was read after the
 * stop, reads the process again and stops it until all is decoded, unless the
 * first stop has reached its limit. Frees `first`.
 */
static struct rcore_error *read_ahead(struct rcore_session *session,
				      struct rcore_snapshot *first, struct rcore_moment *ret)
{
	struct rcore_live *live = session->target.live;
	struct rcore_ahead ahead = {.first = first};
	struct rcore_live_pause pause = {0};
	bool missed = false;
	rcore_live_read_late(live, session->settings.max_pause_ms != 0);
	struct rcore_error *err = rcore_ahead_read(&ahead, session, ret, &pause, &missed);
	rcore_live_read_late(live, false);
	rcore_ahead_deinit(&ahead);
	if (pause.overdue || (!err && !missed) || !pause.nanoseconds)
		return conclude(session, err, &pause, ret->snapshot);
	if (err)
		rcore_error_free(err);
	else
		rcore_snapshot_free(ret->snapshot);
	return read_once(session, pause.nanoseconds, ret);
}

/*
 * Parts that are read while the process runs may not fit together. That rarely
 * happens twice in a row.
 */
static struct rcore_error *read_running(struct rcore_session *session, struct rcore_moment *ret)
{
	enum { ATTEMPTS = 5 };
	for (int i = 1;; i++) {
		struct rcore_error *err = read_once(session, 0, ret);
		if (i == ATTEMPTS || (!err && !ret->snapshot->incomplete))
			return err;
		if (!err)
			rcore_snapshot_free(ret->snapshot);
		rcore_error_free(err);
		rcore_statics_search_again(&session->located.statics);
	}
}

/*
 * Keeps an error that cannot be caused by reading a process that runs, and
 * drops any other.
 */
static struct rcore_error * final(struct rcore_error *err)
{
	if (!err || err->code == RCORE_ERROR_NOT_RUBY || err->code == RCORE_ERROR_NO_LAYOUT ||
	    err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	return NULL;
}

/*
 * Returns whether nothing is left to prove during the stop. While the process
 * runs, a layout that fits may seem not to fit. A pack must also contain what
 * the proofs read when it is analyzed.
 */
static bool is_settled(const struct rcore_session *session)
{
	const struct rcore_trial *trial = session->choice->trial;
	return trial && !trial->misfits && !rcore_trial_missed(trial) &&
	       !session->target.recorder;
}

/* Proves the layout that was chosen earlier, while the process runs. */
static void prove(struct rcore_session *session)
{
	struct rcore_snapshot *snapshot;
	rcore_auto_error err = rcore_session_describe(session, &snapshot);
	if (err)
		return;
	err = rcore_session_look(session, snapshot);
	session->is_proved = !err && session->choice->is_fresh;
	rcore_snapshot_free(snapshot);
}

/*
 * Finds out, while the process runs, whether it is Ruby, which layout it has,
 * and then which pages to copy. Forgets pages that only the choice of a layout
 * needed. Sets *ret to what was read; NULL if it is useless.
 */
static struct rcore_error *rehearse(struct rcore_session *session, struct rcore_snapshot **ret)
{
	struct rcore_moment moment;
	*ret = NULL;
	if (!session->choice->trial) {
		struct rcore_snapshot *snapshot;
		struct rcore_error *failure = NULL;
		struct rcore_error *err =
			rcore_session_examine_running(session, &snapshot, &failure);
		if (err)
			return err;
		rcore_running_watch_gvl(session, snapshot);
		rcore_snapshot_free(snapshot);
		session->is_proved = !failure && session->choice->is_fresh;
		failure = final(failure);
		if (failure)
			return failure;
	} else if (!session->target.recorder) {
		prove(session);
	}
	session->is_proved = session->is_proved && is_settled(session);
	rcore_live_forget(session->target.live);
	rcore_statics_search_again(&session->located.statics);
	/*
	 * Before 3.3, the fibers are on no list. What this walk over the heap
	 * finds is complete only if no thread runs from now until the stop.
	 */
	if (!session->located.location.layout.traits.fibers_listed)
		rcore_live_note_sleepers(session->target.live);
	struct rcore_error *err = rcore_session_read(session, &moment);
	if (err)
		return final(err);
	err = keep_stacks(session, moment.snapshot);
	rcore_session_keep_thread_locals(&session->target, &session->located, moment.snapshot);
	rcore_running_watch_gvl(session, moment.snapshot);
	rcore_statics_search_once_more(&session->located.statics);
	if (!err && session->target.recorder)
		rcore_session_record(&session->target, session->located.identity.module);
	if (err)
		rcore_snapshot_free(moment.snapshot);
	else
		*ret = moment.snapshot;
	return err;
}

/*
 * Returns whether the pages can be copied before the stop. They cannot for a
 * pack, which records what is read while the process is stopped. Nor if a walk
 * over the heap had problems: the copy is decoded without such a walk, so the
 * report would lack these problems.
 */
static bool can_read_ahead(const struct rcore_session *session,
			   const struct rcore_snapshot *first)
{
	return first && !session->target.recorder && !session->settings.no_stop &&
	       (session->located.location.layout.traits.fibers_listed || !first->problem_count);
}

static struct rcore_error *read_stopped(struct rcore_session *session,
					struct rcore_snapshot *first, struct rcore_moment *ret)
{
	if (can_read_ahead(session, first))
		return read_ahead(session, first, ret);
	rcore_snapshot_free(first);
	return session->settings.no_stop ? read_running(session, ret)
					 : read_once(session, 0, ret);
}

/*
 * Reads a copy of all memory, for a pack that has the whole heap. What the
 * rehearsal reads is not recorded: it is in the copy, or read again. Frees
 * `first`.
 */
static struct rcore_error *read_copy(struct rcore_session *session,
				     struct rcore_snapshot *first, struct rcore_moment *ret)
{
	struct rcore_live_pause pause;
	struct rcore_error *err = rcore_running_read_copy(session, first, ret, &pause);
	rcore_snapshot_free(first);
	return conclude(session, err, &pause, ret->snapshot);
}

/*
 * Returns whether what was read may lack memory because the process ended. If
 * nothing else is missing, a report is as good as one of a moment ago. A pack
 * also needs the memory that this reading knew already, and whoever opens the
 * pack does not, unless all of it was copied.
 */
static bool may_lack_memory(const struct rcore_session *session,
			    const struct rcore_snapshot *snapshot)
{
	return snapshot->incomplete ||
	       (session->target.recorder && !session->settings.record_heap &&
		rcore_live_is_gone(session->target.live));
}

static struct rcore_error *read_live(struct rcore_session *session, struct rcore_moment *ret)
{
	struct rcore_snapshot *first = NULL;
	const bool records_heap = session->settings.record_heap;
	if (records_heap)
		rcore_recorder_pause(session->target.recorder, true);
	struct rcore_error *err = rehearse(session, &first);
	if (records_heap)
		rcore_recorder_pause(session->target.recorder, false);
	if (!err)
		err = records_heap ? read_copy(session, first, ret)
				   : read_stopped(session, first, ret);
	session->is_proved = false;
	if (err || may_lack_memory(session, ret->snapshot)) {
		struct rcore_error *ended = rcore_live_check_reads(session->target.live);
		if (ended && !err)
			rcore_snapshot_free(ret->snapshot);
		if (ended) {
			rcore_error_free(err);
			return ended;
		}
	}
	return err;
}

static struct rcore_error *check_pause(const struct rcore_options *options)
{
	if (!options->max_pause_ms)
		return NULL;
	if (options->max_pause_ms > RCORE_STOP_LIMIT_MS)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--max-pause' cannot be over %d: no process is "
			"stopped for longer",
			RCORE_STOP_LIMIT_MS);
	if (options->no_stop)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--max-pause' cannot be used with --no-stop: the process is "
			"not stopped");
	if (options->record && !options->record_heap)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--max-pause' can only be used for a pack with --heap: any "
			"other pack is one moment of the process");
	return NULL;
}

struct rcore_error *rcore_open_pid(int pid, const struct rcore_options *given,
				   struct rcore_session **ret)
{
	struct rcore_options options = {0};
	struct rcore_live *live;
	struct rcore_error *err = rcore_sized_copy(&options, given);
	if (!err)
		err = check_pause(&options);
	if (!err)
		err = rcore_live_open(pid, &live);
	if (err)
		return err;
	err = rcore_session_open(rcore_live_process(live), rcore_live_memory(live), &options,
				 ret);
	if (err) {
		struct rcore_error *ended = rcore_live_check(live);
		rcore_live_close(live);
		if (!ended)
			return err;
		rcore_error_free(err);
		return ended;
	}
	rcore_live_limit(live, (unsigned)options.max_pause_ms);
	(*ret)->target.live = live;
	(*ret)->settings.no_stop = options.no_stop;
	(*ret)->read = read_live;
	return NULL;
}
