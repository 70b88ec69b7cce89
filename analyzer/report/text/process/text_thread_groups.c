/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/text.h"
#include "model/wait_text.h"
#include "report/text/text.h"
#include "report/text/process/text_stack.h"
#include "report/text/process/text_waits.h"
#include "report/names.h"
#include "triage/workers.h"

/*
 * Threads with the same stack are printed once, and idle ones in one line: if
 * fifty threads wait for work, even one stack is too much to read.
 */

bool rcore_text_is_merged(const struct rcore_text *text, const struct rcore_thread *thread)
{
	return !text->options.all && !text->options.no_stacks && text->pick.thread < 0 &&
	       text->pick.fiber < 0 &&
	       rcore_index_valid(thread->group, text->snapshot->thread_group_count) &&
	       text->visible_threads[thread->group] > 1;
}

static bool blocks_others(const struct rcore_snapshot *snapshot, size_t thread)
{
	for (size_t i = 0; i < snapshot->lock_count; i++) {
		const struct rcore_lock *lock = &snapshot->locks[i];
		const struct rcore_fiber *owner = rcore_snapshot_fiber(
			snapshot, rcore_owner_fiber(snapshot, &lock->owner));
		if (lock->waiter_count && owner && owner->thread == (int)thread)
			return true;
	}
	return false;
}

static bool is_blocked(const struct rcore_snapshot *snapshot, const struct rcore_thread *thread)
{
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	return fiber && rcore_wait_is_blocked(fiber->wait);
}

/* In order of interest. */
enum rank { DIED, RUNS, BLOCKS, BLOCKED, OTHER, IDLE, RANKS };

static enum rank rank_of(const struct rcore_text *text, size_t index)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread *thread = &snapshot->threads[index];
	if (snapshot->cause.present && snapshot->cause.thread == (int)index)
		return DIED;
	if (text->options.all)
		return OTHER;
	if (thread->gvl == RCORE_GVL_HOLDER)
		return RUNS;
	if (blocks_others(snapshot, index))
		return BLOCKS;
	if (is_blocked(snapshot, thread))
		return BLOCKED;
	return thread->is_idle ? IDLE : OTHER;
}

static bool is_first(const struct rcore_text *text, size_t index)
{
	const struct rcore_thread *thread = &text->snapshot->threads[index];
	if (!rcore_text_is_merged(text, thread))
		return true;
	const struct rcore_thread_group *group = &text->snapshot->thread_groups[thread->group];
	for (size_t i = 0; i < group->count; i++)
		if (rcore_pick_thread(text->snapshot, &text->pick, (size_t)group->threads[i]))
			return group->threads[i] == (int)index;
	return false;
}

size_t rcore_text_thread_order(const struct rcore_text *text, size_t *ret)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t count = 0;
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < snapshot->thread_count; i++)
			if (!snapshot->threads[i].is_ended &&
			    rcore_pick_thread(snapshot, &text->pick, i) && is_first(text, i) &&
			    rank_of(text, i) == (enum rank)rank)
				ret[count++] = i;
	return count;
}

/*
 * Writes "8 threads with the same stack" or "8 threads idle in Pool#run" for
 * the visible ones.
 */
static void print_title(const struct rcore_text *text, size_t index, FILE *out)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread_group *group = &snapshot->thread_groups[index];
	const struct rcore_thread *first = &snapshot->threads[group->threads[0]];
	const struct rcore_frame *start = rcore_worker_start(first, snapshot);
	const struct rcore_frame *place = rcore_text_place(rcore_worker_fiber(first, snapshot));
	char number[RCORE_COUNT_SIZE];
	fprintf(out, "%s ", rcore_count_text(text->visible_threads[index], number));
	if (first->is_idle && start) {
		fputs("idle threads in ", out);
		rcore_escape_write(out,
				   start->label ? rcore_method_of_label(start->label) : "?");
		return;
	}
	fprintf(out, "threads %s, with %s", rcore_thread_text(first),
		group->differs ? "similar stacks" : "the same stack");
	if (!place)
		return;
	fputs(" at ", out);
	rcore_escape_write(out, place->path);
	fprintf(out, ":%d", place->line);
	if (group->differs)
		fputs(" and elsewhere", out);
}

static void print_similar(const struct rcore_text *text, const struct rcore_thread_group *group)
{
	fputs("  similar:", text->pen.out);
	for (size_t i = 0; i < group->similar_listed && i < RCORE_TEXT_SIMILAR; i++)
		fprintf(text->pen.out, " %s", text->snapshot->threads[group->similar[i]].id);
	rcore_text_similar_end(text, group->similar_count);
}

void rcore_text_thread_group(struct rcore_text *text, size_t index)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread_group *group = &snapshot->thread_groups[index];
	int *fibers = calloc(group->count, sizeof(*fibers));
	if (!fibers) {
		text->error = text->error ? text->error : rcore_error_no_memory();
		return;
	}
	for (size_t i = 0; i < group->count; i++)
		fibers[i] = snapshot->threads[group->threads[i]].current_fiber;
	rcore_style(&text->pen, RCORE_STYLE_ID);
	print_title(text, index, text->pen.out);
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
	rcore_text_merged(text, fibers, group->count, text->visible_threads[index]);
	rcore_text_same_wait(text, fibers, group->count);
	if (group->similar_count)
		print_similar(text, group);
	if (!snapshot->threads[group->threads[0]].is_idle)
		rcore_text_one_stack(text, &snapshot->fibers[fibers[0]], false);
	free(fibers);
}
