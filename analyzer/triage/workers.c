/* SPDX-License-Identifier: MIT */
#include "triage/workers.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

#include "base/arena.h"
#include "base/text.h"
#include "model/group.h"
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
		    rcore_origin_of_frame(&fiber->frames[i]) == RCORE_ORIGIN_APP)
			return &fiber->frames[i];
	return NULL;
}

/*
 * Waits that end when somebody brings work: not a lock, nor another thread's
 * end.
 */
static bool waits_for_work(const struct rcore_wait *wait)
{
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
 * Whether a frame is of the method, or its blocks, that the thread was started
 * in.
 */
static bool is_of_start(const struct rcore_frame *frame, const struct rcore_frame *start)
{
	return start && rcore_same_text(frame->path, start->path) &&
	       rcore_same_text(rcore_method_of_label(frame->label),
			       rcore_method_of_label(start->label));
}

bool rcore_worker_is_idle(const struct rcore_thread *thread,
			  const struct rcore_snapshot *snapshot)
{
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	if (!fiber || !waits_for_work(fiber->wait) || thread->is_main || thread->problem ||
	    fiber->problem)
		return false;
	const struct rcore_frame *frame = rcore_application_frame(fiber);
	return !frame || (fiber->wait->kind <= RCORE_WAIT_CONDITION &&
			  is_of_start(frame, rcore_worker_start(thread, snapshot)));
}

/* Threads with one stack, while they are being found. */
struct stack {
	uint64_t hash;
	int first, count;
	int group; /* -1: not numbered */
	bool lost;
	UT_hash_handle hh;
};

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
 * Threads of a pool that read or wait for a child have a descriptor or a child
 * each.
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

static bool same_thread(const struct rcore_snapshot *snapshot, const struct rcore_thread *a,
			const struct rcore_thread *b)
{
	const struct rcore_fiber *one = rcore_worker_fiber(a, snapshot);
	const struct rcore_fiber *other = rcore_worker_fiber(b, snapshot);
	return a->status == b->status && a->to_kill == b->to_kill && a->gvl == b->gvl &&
	       a->ractor == b->ractor && same_wait(one->wait, other->wait) &&
	       rcore_stack_same(one, other);
}

/*
 * Of all that same_thread() compares: threads that differ must not hide each
 * other.
 */
static uint64_t thread_hash(const struct rcore_thread *thread, const struct rcore_fiber *fiber)
{
	const uint64_t parts[] = {
		rcore_stack_hash(fiber),
		wait_key(fiber->wait),
		fiber->wait->kind,
		fiber->wait->is_timed,
		thread->status,
		thread->to_kill,
		thread->gvl,
		(uint64_t)thread->ractor,
	};
	uint64_t hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		hash = (hash ^ parts[i]) * 0x100000001b3;
	return hash;
}

/* thread->group is an index into `stacks` until the groups have numbers. */
static bool find_stacks(struct rcore_snapshot *snapshot, struct stack *stacks)
{
	struct stack *table = NULL;
	bool lost = false;
	int used = 0;
	for (size_t i = 0; i < snapshot->thread_count && !lost; i++) {
		struct rcore_thread *thread = &snapshot->threads[i];
		if (!can_be_merged(thread, snapshot))
			continue;
		const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
		uint64_t hash = thread_hash(thread, fiber);
		struct stack *found;
		HASH_FIND(hh, table, &hash, sizeof(hash), found);
		if (!found) {
			found = &stacks[used++];
			*found = (struct stack){.hash = hash, .first = (int)i, .group = -1};
			HASH_ADD(hh, table, hash, sizeof(found->hash), found);
			lost = found->lost;
		} else if (!same_thread(snapshot, &snapshot->threads[found->first], thread)) {
			continue;
		}
		found->count++;
		thread->group = (int)(found - stacks);
	}
	HASH_CLEAR(hh, table);
	return !lost;
}

static bool number_groups(struct rcore_snapshot *snapshot, struct stack *stacks)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		int stack = snapshot->threads[i].group;
		if (stack >= 0 && stacks[stack].first == (int)i && stacks[stack].count > 1)
			stacks[stack].group = (int)count++;
	}
	struct rcore_thread_group *groups =
		rcore_arena_alloc(&snapshot->arena, count * sizeof(*groups));
	if (!groups)
		return false;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->group < 0)
			continue;
		const struct stack *stack = &stacks[thread->group];
		thread->group = stack->group;
		if (stack->group < 0)
			continue;
		struct rcore_thread_group *group = &groups[stack->group];
		if (!group->threads) {
			group->is_idle = rcore_worker_is_idle(thread, snapshot);
			group->threads = rcore_arena_alloc(&snapshot->arena,
							   (size_t)stack->count * sizeof(int));
		}
		if (!group->threads)
			return false;
		group->threads[group->count++] = (int)i;
	}
	snapshot->thread_groups = groups;
	snapshot->thread_group_count = count;
	return true;
}

struct rcore_error *rcore_thread_groups_find(struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->threads[i].group = -1;
	if (!snapshot->thread_count)
		return NULL;
	struct stack *stacks = calloc(snapshot->thread_count, sizeof(*stacks));
	bool done = stacks && find_stacks(snapshot, stacks) && number_groups(snapshot, stacks);
	free(stacks);
	if (done)
		return NULL;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->threads[i].group = -1;
	return rcore_error_no_memory();
}
