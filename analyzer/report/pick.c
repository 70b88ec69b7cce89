/* SPDX-License-Identifier: MIT */
#include "report/pick.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/where.h"

enum { LISTED = 20 };

static bool parse_address(const char *name, uint64_t *ret)
{
	if (name[0] != '0' || (name[1] != 'x' && name[1] != 'X') || !name[2])
		return false;
	char *end;
	*ret = strtoull(name, &end, 16);
	return *end == '\0' && *ret;
}

static int find_thread(const struct rcore_snapshot *snapshot, const char *name)
{
	uint64_t address;
	bool has_address = parse_address(name, &address);
	char *end;
	long tid = strtol(name, &end, 10);
	bool has_tid = !has_address && *end == '\0' && tid > 0;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (strcasecmp(thread->id, name) == 0 ||
		    (has_tid && rcore_lwp(thread->tid, thread->outer_tid) == tid) ||
		    (has_address && (thread->object == address || thread->address == address)))
			return (int)i;
	}
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (rcore_same_text(snapshot->threads[i].name, name))
			return (int)i;
	return -1;
}

static const struct rcore_other_thread *find_other(const struct rcore_snapshot *snapshot,
						   const char *name)
{
	char *end;
	long tid = strtol(name, &end, 10);
	for (size_t i = 0; *end == '\0' && tid > 0 && i < snapshot->other_count; i++)
		if (rcore_lwp(snapshot->others[i].tid, snapshot->others[i].outer_tid) == tid)
			return &snapshot->others[i];
	return NULL;
}

static int find_fiber(const struct rcore_snapshot *snapshot, const char *name)
{
	uint64_t address;
	bool has_address = parse_address(name, &address);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (strcasecmp(fiber->id, name) == 0 ||
		    (has_address && (fiber->object == address || fiber->address == address)))
			return (int)i;
	}
	return -1;
}

enum { LISTED_ID = 64 }; /* bytes: an id and what follows it */

/* Writes " T1 (main)" or " T2 (puma srv tp 001)". */
static int list_thread(const struct rcore_thread *thread, char *buffer, size_t size)
{
	char name[LISTED_ID / 2];
	if (!thread->name)
		return snprintf(buffer, size, thread->is_main ? " %s (main)" : " %s",
				thread->id);
	return snprintf(buffer, size, " %s (%s)", thread->id,
			rcore_escape(name, sizeof(name), thread->name));
}

/* Writes " T1 (main) T2 T3 ..." for a message. */
static void list_ids(const struct rcore_snapshot *snapshot, int thread, bool fibers,
		     char *buffer, size_t size)
{
	size_t count = fibers ? snapshot->fiber_count : snapshot->thread_count;
	size_t used = 0, shown = 0;
	for (size_t i = 0; i < count; i++) {
		if (fibers && thread >= 0 && snapshot->fibers[i].thread != thread)
			continue;
		if (shown++ == LISTED) {
			snprintf(buffer + used, size - used, " ...");
			return;
		}
		char *at = buffer + used;
		used += (size_t)(fibers ? snprintf(at, size - used, " %s",
						   snapshot->fibers[i].id)
					: list_thread(&snapshot->threads[i], at, size - used));
	}
	if (!shown)
		snprintf(buffer, size, " none");
}

static struct rcore_error *not_there(const struct rcore_snapshot *snapshot, int thread,
				     bool fibers, const char *name)
{
	char ids[LISTED * LISTED_ID + 32], escaped[64];
	const char *what = fibers ? "fiber" : "thread";
	list_ids(snapshot, thread, fibers, ids, sizeof(ids));
	rcore_escape(escaped, sizeof(escaped), name);
	if (thread >= 0)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"there is no fiber %s in thread %s; its fibers are:%s", escaped,
			snapshot->threads[thread].id, ids);
	return rcore_error_create(RCORE_ERROR_USAGE, "there is no %s %s; the %ss are:%s", what,
				  escaped, what, ids);
}

struct rcore_error *rcore_pick_any(const struct rcore_snapshot *snapshot,
				   const struct rcore_report_options *options,
				   struct rcore_pick *ret)
{
	struct rcore_pick pick = {.thread = -1, .fiber = -1};
	if (snapshot->failure)
		options = NULL;
	if (options && options->thread) {
		pick.thread = find_thread(snapshot, options->thread);
		if (pick.thread < 0)
			pick.other = find_other(snapshot, options->thread);
		if (pick.thread < 0 && (!pick.other || options->fiber))
			return not_there(snapshot, -1, false, options->thread);
	}
	if (options && options->fiber) {
		pick.fiber = find_fiber(snapshot, options->fiber);
		if (pick.fiber < 0 ||
		    (pick.thread >= 0 && snapshot->fibers[pick.fiber].thread != pick.thread))
			return not_there(snapshot, pick.thread, true, options->fiber);
	}
	if (options && options->where_count) {
		struct rcore_error *err = rcore_where_check(snapshot, options);
		if (err)
			return err;
		pick.where = options;
	}
	pick.only_contexts = options && options->only_contexts;
	*ret = pick;
	return NULL;
}

struct rcore_error *rcore_pick_init(const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *options,
				    struct rcore_pick *ret)
{
	struct rcore_error *err = rcore_pick_any(snapshot, options, ret);
	if (err || !ret->other)
		return err;
	return rcore_error_create(RCORE_ERROR_USAGE, "LWP %d runs no Ruby thread",
				  rcore_lwp(ret->other->tid, ret->other->outer_tid));
}

static int default_thread(const struct rcore_snapshot *snapshot)
{
	if (snapshot->cause.present && snapshot->cause.thread >= 0)
		return snapshot->cause.thread;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].is_main)
			return (int)i;
	return snapshot->thread_count ? 0 : -1;
}

struct rcore_error *rcore_pick_one_fiber(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, int *ret)
{
	struct rcore_pick pick = {.thread = -1, .fiber = -1};
	struct rcore_error *err = rcore_pick_init(snapshot, options, &pick);
	if (err)
		return err;
	int fiber = pick.fiber;
	int thread = pick.thread;
	if (fiber < 0 && thread < 0 && snapshot->cause.present)
		fiber = snapshot->cause.fiber;
	if (fiber < 0 && thread < 0)
		thread = default_thread(snapshot);
	if (fiber < 0 && thread >= 0)
		fiber = snapshot->threads[thread].current_fiber;
	if (fiber < 0)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			thread < 0 ? "the target has no Ruby thread"
				   : "%s runs no fiber; name a fiber with --fiber",
			thread < 0 ? "" : snapshot->threads[thread].id);
	*ret = fiber;
	return NULL;
}

const struct rcore_other_thread *rcore_died_other(const struct rcore_snapshot *snapshot)
{
	if (!snapshot->cause.present || snapshot->cause.thread >= 0)
		return NULL;
	for (size_t i = 0; i < snapshot->other_count; i++)
		if (snapshot->others[i].tid == snapshot->cause.tid &&
		    (snapshot->others[i].native_count || snapshot->others[i].native_problem))
			return &snapshot->others[i];
	return NULL;
}

struct rcore_error *rcore_pick_other(const struct rcore_snapshot *snapshot,
				     const struct rcore_report_options *options,
				     const struct rcore_other_thread **ret)
{
	struct rcore_pick pick = {0};
	struct rcore_error *err = rcore_pick_any(snapshot, options, &pick);
	*ret = pick.other;
	bool chosen = options && (options->thread || options->fiber);
	if (!err && !chosen && (!options || options->native != RCORE_NATIVE_NONE))
		*ret = rcore_died_other(snapshot);
	return err;
}

static bool has_match(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		      size_t thread)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].thread == (int)thread &&
		    rcore_where_matches(pick->where, &snapshot->fibers[i]))
			return true;
	return false;
}

bool rcore_pick_thread(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		       size_t thread)
{
	if (pick->other)
		return false;
	if (pick->fiber >= 0)
		return snapshot->fibers[pick->fiber].thread == (int)thread;
	if (pick->where && !has_match(snapshot, pick, thread))
		return false;
	return pick->thread < 0 || pick->thread == (int)thread;
}

bool rcore_pick_fiber(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		      size_t fiber)
{
	if (pick->other)
		return false;
	if (pick->fiber >= 0)
		return pick->fiber == (int)fiber;
	if (pick->where && !rcore_where_matches(pick->where, &snapshot->fibers[fiber]))
		return false;
	if (pick->only_contexts && !rcore_fiber_has_state(&snapshot->fibers[fiber]))
		return false;
	return pick->thread < 0 || snapshot->fibers[fiber].thread == pick->thread;
}
