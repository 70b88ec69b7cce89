/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/text.h"
#include "model/wait_text.h"
#include "report/redaction.h"
#include "report/json/json.h"
#include "report/text/style.h"

static const char *lock_kind_name(enum rcore_lock_kind kind)
{
	static const char *const names[] = {
		[RCORE_LOCK_MUTEX] = "mutex",
		[RCORE_LOCK_MONITOR] = "monitor",
		[RCORE_LOCK_WRITE] = "write_lock",
	};
	return names[kind];
}

static const char *source_name(enum rcore_wait_source source)
{
	switch (source) {
	case RCORE_WAIT_BY_VM:
		return "vm";
	case RCORE_WAIT_BY_FRAME:
		return "frame";
	case RCORE_WAIT_BY_SYSCALL:
		return "syscall";
	}
	return "unknown";
}

static void add_owner(struct rcore_json *json, struct json_object *parent,
		      const struct rcore_snapshot *snapshot, const struct rcore_owner *owner)
{
	if (owner->thread < 0 && owner->fiber < 0 && !owner->address)
		return;
	struct json_object *object = rcore_json_object(json);
	if (owner->thread >= 0)
		rcore_json_add_text(json, object, "thread",
				    snapshot->threads[owner->thread].id);
	if (owner->fiber >= 0)
		rcore_json_add_text(json, object, "fiber", snapshot->fibers[owner->fiber].id);
	rcore_json_add_flag(json, object, "gone", owner->fiber < 0 && owner->address);
	rcore_json_add(json, parent, "owner", object);
}

static void add_fds(struct rcore_json *json, struct json_object *parent,
		    const struct rcore_wait *wait)
{
	if (!wait->fd_count)
		return;
	struct json_object *fds = json_object_new_array();
	for (size_t i = 0; i < wait->fd_count; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_int(json, object, "fd", wait->fds[i].fd);
		rcore_json_add_text(json, object, "mode", wait->fds[i].mode);
		rcore_json_add_text(json, object, "path", wait->fds[i].path);
		rcore_json_add_text(json, object, "open", wait->fds[i].link);
		if (!fds || json_object_array_add(fds, object))
			json->no_memory = true;
	}
	rcore_json_add(json, parent, "fds", fds);
}

static void add_text(struct rcore_json *json, struct json_object *object,
		     const struct rcore_snapshot *snapshot, const struct rcore_wait *wait)
{
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out) {
		json->no_memory = true;
		return;
	}
	rcore_wait_write(snapshot, wait, out);
	if (fclose(out))
		json->no_memory = true;
	else
		rcore_json_add_text(json, object, "text", text);
	free(text);
}

static void add_within(struct rcore_json *json, struct json_object *parent,
		       const struct rcore_wait *wait)
{
	if (!wait->within)
		return;
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "method", wait->within);
	rcore_json_add_text(json, object, "seconds", wait->within_seconds);
	rcore_json_add(json, parent, "within", object);
}

static struct json_object *wait_object(struct rcore_json *json,
				       const struct rcore_snapshot *snapshot,
				       const struct rcore_wait *wait)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "kind", rcore_wait_kind_name(wait->kind));
	rcore_json_add_text(json, object, "known_by", source_name(wait->source));
	add_text(json, object, snapshot, wait);
	rcore_json_add_text(json, object, "method", wait->method);
	rcore_json_add_text(json, object, "hook", wait->hook);
	rcore_json_add_hex(json, object, "object", wait->object);
	rcore_json_add_text(json, object, "class", wait->type);
	rcore_json_add_hex(json, object, "lock", wait->lock);
	add_owner(json, object, snapshot, &wait->owner);
	if (wait->thread >= 0)
		rcore_json_add_text(json, object, "thread", snapshot->threads[wait->thread].id);
	rcore_json_add_count(json, object, "ractor", (int64_t)wait->ractor);
	if (wait->has_counts) {
		rcore_json_add_int(json, object, "length", (int64_t)wait->length);
		rcore_json_add_int(json, object, "waiting", (int64_t)wait->waiting);
		rcore_json_add_count(json, object, "max", (int64_t)wait->max);
	}
	rcore_json_add_text(json, object, "wants", wait->wants);
	rcore_json_add_flag(json, object, "timed", wait->is_timed);
	rcore_json_add_text(json, object,
			    wait->kind == RCORE_WAIT_RESOLVE   ? "host"
			    : wait->kind == RCORE_WAIT_SYSCALL ? "file"
			    : rcore_wait_is_for_lock(wait)     ? "feature"
							       : "seconds",
			    wait->argument);
	add_within(json, object, wait);
	if (wait->has_pid)
		rcore_json_add_int(json, object, "pid", wait->pid);
	add_fds(json, object, wait);
	rcore_json_add_text(json, object, "syscall", wait->syscall);
	return object;
}

void rcore_json_wait(struct rcore_json *json, const struct rcore_snapshot *snapshot,
		     const struct rcore_wait *wait)
{
	if (wait)
		rcore_json_put(json, "wait", wait_object(json, snapshot, wait));
}

static void add_ids(struct rcore_json *json, struct json_object *parent, const char *key,
		    const struct rcore_snapshot *snapshot, const int *fibers, size_t count)
{
	struct json_object *ids = json_object_new_array();
	for (size_t i = 0; i < count; i++)
		if (!ids ||
		    json_object_array_add(
			    ids, rcore_json_string(json, snapshot->fibers[fibers[i]].id)))
			json->no_memory = true;
	rcore_json_add(json, parent, key, ids);
}

void rcore_json_summary(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	static const char *const kinds[RCORE_SUMMARY_KINDS] = {
		[RCORE_SUMMARY_LOCK] = "lock",
		[RCORE_SUMMARY_QUEUE] = "queue",
		[RCORE_SUMMARY_GVL] = "gvl",
		[RCORE_SUMMARY_POOL] = "pool",
		[RCORE_SUMMARY_CONNECTIONS] = "connections",
		[RCORE_SUMMARY_FIBERS] = "fibers",
		[RCORE_SUMMARY_JOIN] = "join",
	};
	rcore_json_open(json, "summary", '[');
	for (size_t i = 0; i < snapshot->summary_count; i++) {
		const struct rcore_summary_line *line = &snapshot->summary[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "kind", kinds[line->kind]);
		rcore_json_add_text(json, object, "text", line->text);
		rcore_json_add_hex(json, object, "object", line->object);
		if (line->holder >= 0)
			rcore_json_add_text(json, object, "holder",
					    snapshot->fibers[line->holder].id);
		add_ids(json, object, "fibers", snapshot, line->fibers, line->fiber_count);
		if (line->kind == RCORE_SUMMARY_POOL)
			rcore_json_add_int(json, object, "busy", (int64_t)line->busy);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

void rcore_json_locks(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	rcore_json_open(json, "locks", '[');
	for (size_t i = 0; i < snapshot->lock_count; i++) {
		const struct rcore_lock *lock = &snapshot->locks[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "kind", lock_kind_name(lock->kind));
		rcore_json_add_hex(json, object, "object", lock->object);
		rcore_json_add_hex(json, object, "lock", lock->address);
		add_owner(json, object, snapshot, &lock->owner);
		rcore_json_add_count(json, object, "entered", (int64_t)lock->count);
		add_ids(json, object, "waiters", snapshot, lock->waiters, lock->waiter_count);
		rcore_json_add_text(json, object, "problem", lock->problem);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
	rcore_json_open(json, "pools", '[');
	for (size_t i = 0; i < snapshot->pool_count; i++) {
		const struct rcore_pool *pool = &snapshot->pools[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "library", pool->library);
		rcore_json_add_hex(json, object, "object", pool->object);
		rcore_json_add_count(json, object, "size", (int64_t)pool->size);
		if (!pool->is_used_unknown)
			rcore_json_add_int(json, object, "used", (int64_t)pool->used);
		rcore_json_add_flag(json, object, "exclusive", pool->is_exclusive);
		add_ids(json, object, "holders", snapshot, pool->holders, pool->holder_count);
		add_ids(json, object, "waiters", snapshot, pool->waiters, pool->waiter_count);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
	rcore_json_open(json, "deadlocks", '[');
	for (size_t i = 0; i < snapshot->deadlock_count; i++) {
		const struct rcore_deadlock *deadlock = &snapshot->deadlocks[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "text", deadlock->text);
		rcore_json_add_flag(json, object, "cycle", deadlock->is_cycle);
		add_ids(json, object, "fibers", snapshot, deadlock->fibers, deadlock->count);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
	if (snapshot->wait_problem)
		rcore_json_put_text(json, "wait_problem", snapshot->wait_problem);
}

struct rcore_error *rcore_report_waits_json(const struct rcore_snapshot *snapshot,
					    const struct rcore_report_options *options,
					    FILE *out)
{
	struct rcore_pick pick;
	struct rcore_error *err = rcore_pick_init(snapshot, options, &pick);
	if (err)
		return err;
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-waits/1");
	rcore_json_origin(&json, snapshot);
	rcore_json_put(&json, "complete", json_object_new_boolean(!snapshot->incomplete));
	rcore_json_problems(&json, snapshot);
	rcore_json_redaction(&json, &snapshot->redaction);
	rcore_json_open(&json, "waits", '[');
	for (size_t i = 0; i < snapshot->fiber_count && !ferror(out); i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (!fiber->wait || !rcore_pick_fiber(snapshot, &pick, i))
			continue;
		struct json_object *object = rcore_json_object(&json);
		rcore_json_add_text(&json, object, "fiber", fiber->id);
		if (fiber->thread >= 0)
			rcore_json_add_text(&json, object, "thread",
					    snapshot->threads[fiber->thread].id);
		rcore_json_add(&json, object, "wait",
			       wait_object(&json, snapshot, fiber->wait));
		rcore_json_put(&json, NULL, object);
	}
	rcore_json_close(&json, ']');
	rcore_json_summary(&json, snapshot);
	rcore_json_locks(&json, snapshot);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
