/* SPDX-License-Identifier: MIT */
#include "triage/workers.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/text.h"
#include "model/alike.h"
#include "model/group.h"
#include "model/similar.h"
#include "model/wait_text.h"
#include "triage/origin.h"

const struct rcore_fiber *rcore_worker_fiber(const struct rcore_thread *thread,
					     const struct rcore_snapshot *snapshot)
{
	return thread->is_ended ? NULL : rcore_snapshot_fiber(snapshot, thread->current_fiber);
}

int rcore_owner_fiber(const struct rcore_snapshot *snapshot, const struct rcore_owner *owner)
{
	const struct rcore_thread *thread = rcore_snapshot_thread(snapshot, owner->thread);
	if (owner->fiber >= 0 || owner->address || !thread || thread->is_ended)
		return owner->fiber;
	return thread->current_fiber;
}

int rcore_waited_fiber(const struct rcore_snapshot *snapshot, int fiber)
{
	const struct rcore_wait *wait = snapshot->fibers[fiber].wait;
	const struct rcore_thread *thread;
	if (rcore_wait_is_for_lock(wait))
		return rcore_owner_fiber(snapshot, &wait->owner);
	if (wait && (wait->kind == RCORE_WAIT_TASK || wait->kind == RCORE_WAIT_AUTOLOAD))
		return wait->owner.fiber;
	if (!wait || wait->kind != RCORE_WAIT_JOIN)
		return -1;
	thread = rcore_snapshot_thread(snapshot, wait->thread);
	return thread && !thread->is_ended ? thread->current_fiber : -1;
}

size_t rcore_wait_chain(const struct rcore_snapshot *snapshot, int fiber, int *ret)
{
	/* If `mark` comes again, there is a cycle (Brent's algorithm). */
	int last = fiber, mark = fiber;
	size_t steps = 0, lap = 1, since = 0;
	for (;;) {
		int next = rcore_waited_fiber(snapshot, last);
		if (next < 0)
			break;
		if (next == mark)
			return 0;
		last = next;
		steps++;
		if (++since == lap) {
			mark = last;
			lap *= 2;
			since = 0;
		}
	}
	*ret = last;
	return steps;
}

static bool has_file(const struct rcore_frame *frame)
{
	return frame->path && strncmp(frame->path, "<internal:", 10) != 0;
}

const struct rcore_frame *rcore_worker_start(const struct rcore_thread *thread,
					     const struct rcore_snapshot *snapshot)
{
	const struct rcore_fiber *root =
		thread->fiber_count ? rcore_snapshot_fiber(snapshot, thread->fibers[0]) : NULL;
	if (!root || root->frames_truncated)
		return NULL;
	for (size_t i = root->frame_count; i-- > 0;)
		if (has_file(&root->frames[i]))
			return &root->frames[i];
	return NULL;
}

const struct rcore_frame *rcore_application_frame(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (fiber->frames[i].path &&
		    rcore_origin_of_frame(&fiber->frames[i]) == RCORE_ORIGIN_APP &&
		    !rcore_is_binstub(&fiber->frames[i], i ? &fiber->frames[i - 1] : NULL))
			return &fiber->frames[i];
	return NULL;
}

/*
 * Whether the wait ends when work arrives. A wait for a lock or for the
 * end of a thread does not, except that a server's main thread waits for the
 * thread that serves.
 */
static bool waits_for_work(const struct rcore_thread *thread, const struct rcore_wait *wait)
{
	if (wait && thread->is_main && wait->kind == RCORE_WAIT_JOIN)
		return true;
	return wait && (wait->kind == RCORE_WAIT_POP || wait->kind == RCORE_WAIT_CONDITION ||
			wait->kind == RCORE_WAIT_IO || wait->kind == RCORE_WAIT_SLEEP ||
			wait->kind == RCORE_WAIT_STOP || wait->kind == RCORE_WAIT_SYSCALL);
}

/* "block (2 levels) in Pool#run" is code of Pool#run. */
const char *rcore_method_of_label(const char *label)
{
	const char *at = label && !strncmp(label, "block ", 6) ? strstr(label, "in ") : NULL;
	return at ? at + strlen("in ") : label;
}

/*
 * Whether a frame belongs to the method in which the thread was started, or to
 * its blocks.
 */
static bool is_of_start(const struct rcore_frame *frame, const struct rcore_frame *start)
{
	return start && rcore_same_text(frame->path, start->path) &&
	       rcore_same_text(rcore_method_of_label(frame->label),
			       rcore_method_of_label(start->label));
}

/*
 * Whether a thread waits in the loop of a fiber scheduler: then its fibers say
 * what the application does, and not the frame that started the loop.
 */
static bool is_event_loop(const struct rcore_fiber *fiber,
			  const struct rcore_frame *application)
{
	static const char loop[] = "Async::Scheduler#run";
	for (const struct rcore_frame *frame = fiber->frames; frame < application; frame++)
		if (rcore_same_text(frame->label, loop))
			return true;
	return false;
}

/*
 * Whether it works on something that ends, such as a request. An idle thread
 * may send a command or query, or hold a connection, to ask for work, and a
 * Rake task may be the server itself.
 */
static bool has_work(const struct rcore_fiber *fiber)
{
	static const char *const idle_kinds[] = {"worker", "command",    "query",
						 "http",   "connection", "task"};
	for (size_t i = 0; i < fiber->works.count; i++) {
		bool may_be_idle = false;
		for (size_t j = 0; j < RCORE_COUNT(idle_kinds); j++)
			may_be_idle |=
				rcore_same_text(fiber->works.items[i].kind, idle_kinds[j]);
		if (!may_be_idle)
			return true;
	}
	return false;
}

static bool is_idle(const struct rcore_thread *thread, const struct rcore_snapshot *snapshot)
{
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	if (!fiber || !waits_for_work(thread, fiber->wait) || has_work(fiber) ||
	    thread->problem || fiber->problem)
		return false;
	const struct rcore_frame *frame = rcore_application_frame(fiber);
	return !frame || is_event_loop(fiber, frame) ||
	       (fiber->wait->kind <= RCORE_WAIT_CONDITION &&
		is_of_start(frame, rcore_worker_start(thread, snapshot)));
}

void rcore_idle_threads_find(struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->threads[i].is_idle = is_idle(&snapshot->threads[i], snapshot);
	for (size_t i = 0; i < snapshot->lock_count; i++) {
		const struct rcore_lock *lock = &snapshot->locks[i];
		const struct rcore_fiber *owner = rcore_snapshot_fiber(
			snapshot, rcore_owner_fiber(snapshot, &lock->owner));
		if (lock->waiter_count && owner &&
		    rcore_snapshot_thread(snapshot, owner->thread))
			snapshot->threads[owner->thread].is_idle = false;
	}
}

static bool can_be_merged(const struct rcore_thread *thread,
			  const struct rcore_snapshot *snapshot)
{
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	return fiber && thread->fiber_count == 1 && !thread->is_crashed && !thread->problem &&
	       thread->gvl != RCORE_GVL_HOLDER && fiber->wait && !fiber->problem &&
	       !fiber->native_problem && !fiber->frames_truncated && fiber->frame_count &&
	       !fiber->exception_count;
}

/*
 * What a thread must wait for to be like another: the same lock or queue.
 * Threads of a pool that read, or that wait for a child process, each have a
 * descriptor or a child of their own.
 */
static uint64_t wait_key(const struct rcore_wait *wait)
{
	bool each_its_own = wait->kind == RCORE_WAIT_IO || wait->kind == RCORE_WAIT_PROCESS ||
			    wait->kind == RCORE_WAIT_JOIN;
	return each_its_own ? 0 : wait->object ? wait->object : wait->lock;
}

static bool same_wait(const struct rcore_wait *a, const struct rcore_wait *b)
{
	return a->kind == b->kind && a->is_timed == b->is_timed && wait_key(a) == wait_key(b);
}

static bool same_state(const struct rcore_snapshot *snapshot, size_t a, size_t b)
{
	const struct rcore_thread *one = &snapshot->threads[a], *other = &snapshot->threads[b];
	const struct rcore_fiber *left = rcore_worker_fiber(one, snapshot);
	const struct rcore_fiber *right = rcore_worker_fiber(other, snapshot);
	return one->status == other->status && one->to_kill == other->to_kill &&
	       one->gvl == other->gvl && one->ractor == other->ractor &&
	       one->is_idle == other->is_idle && left->is_late == right->is_late &&
	       same_wait(left->wait, right->wait);
}

static const struct rcore_fiber *fiber_of(const struct rcore_snapshot *snapshot, size_t thread)
{
	return rcore_worker_fiber(&snapshot->threads[thread], snapshot);
}

static bool same_thread(const struct rcore_snapshot *snapshot, size_t a, size_t b)
{
	return same_state(snapshot, a, b) &&
	       rcore_stack_same(fiber_of(snapshot, a), fiber_of(snapshot, b));
}

static bool similar_thread(const struct rcore_snapshot *snapshot, size_t a, size_t b)
{
	return same_state(snapshot, a, b) &&
	       rcore_stack_similar(fiber_of(snapshot, a), fiber_of(snapshot, b));
}

/*
 * Hashes everything that same_state() compares, so that threads that differ do
 * not hide each other.
 */
static uint64_t hash_state(const struct rcore_thread *thread, const struct rcore_wait *wait,
			   uint64_t stack)
{
	const uint64_t parts[] = {
		stack,          wait_key(wait),           wait->kind,
		wait->is_timed, thread->status,           thread->to_kill,
		thread->gvl,    (uint64_t)thread->ractor, thread->is_idle,
	};
	return XXH3_64bits(parts, sizeof(parts));
}

static bool hash_thread(const struct rcore_snapshot *snapshot, size_t index, uint64_t *ret)
{
	const struct rcore_thread *thread = &snapshot->threads[index];
	if (!can_be_merged(thread, snapshot))
		return false;
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	*ret = hash_state(thread, fiber->wait, rcore_stack_hash(fiber) ^ fiber->is_late);
	return true;
}

static bool hash_similar(const struct rcore_snapshot *snapshot, size_t index, uint64_t *ret)
{
	const struct rcore_thread *thread = &snapshot->threads[index];
	if (!can_be_merged(thread, snapshot))
		return false;
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	*ret = hash_state(thread, fiber->wait,
			  rcore_stack_similar_hash(fiber) ^ fiber->is_late);
	return true;
}

struct rcore_error *rcore_thread_groups_find(struct rcore_snapshot *snapshot,
					     bool merge_similar)
{
	const struct rcore_comparison same = {snapshot->thread_count, hash_thread, same_thread};
	const struct rcore_comparison similar = {snapshot->thread_count, hash_similar,
						 similar_thread};
	struct rcore_likeness *found;
	size_t count;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->threads[i].group = -1;
	struct rcore_error *err =
		rcore_likeness_find(snapshot, &same, &similar, merge_similar, &found, &count);
	if (err)
		return err;
	struct rcore_thread_group *groups =
		rcore_arena_array(&snapshot->arena, count, sizeof(*groups));
	for (size_t i = 0; groups && i < count; i++) {
		groups[i] = (struct rcore_thread_group){
			.threads = found[i].same.items,
			.count = found[i].same.count,
			.similar = found[i].similar.items,
			.similar_listed = found[i].similar.count,
			.similar_count = found[i].similar_count,
			.differs = found[i].differs,
		};
		for (size_t j = 0; j < groups[i].count; j++)
			snapshot->threads[groups[i].threads[j]].group = (int)i;
	}
	free(found);
	snapshot->thread_groups = groups;
	snapshot->thread_group_count = groups ? count : 0;
	return groups ? NULL : rcore_error_no_memory();
}
