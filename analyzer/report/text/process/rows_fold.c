/* SPDX-License-Identifier: MIT */
#include "report/text/process/rows.h"
#include "triage/activity.h"
#include "triage/origin.h"

enum {
	SCREEN = 16,   /* rows; a shorter stack is printed whole */
	INNERMOST = 3, /* Ruby frames to keep: what the fiber does */
	LEAST = 4,     /* fewer frames are not worth a row */
};

static bool is_ruby(const struct rcore_rows *rows, size_t at)
{
	return rows->items[at].kind == RCORE_ROW_RUBY;
}

/* Whether a row says something of its own: the application's, or a problem. */
static bool is_kept(const struct rcore_rows *rows, size_t at)
{
	if (!is_ruby(rows, at))
		return rows->items[at].kind == RCORE_ROW_GAP ||
		       rows->items[at].kind == RCORE_ROW_START;
	const struct rcore_frame *frame = &rows->fiber->frames[rows->items[at].index];
	enum rcore_origin origin = rcore_origin_of_frame(frame);
	return origin == RCORE_ORIGIN_APP || origin == RCORE_ORIGIN_UNKNOWN || frame->problem ||
	       frame->under_construction || frame->pc_stale;
}

/* Returns the row of the nth Ruby frame of a range, or `end`. */
static size_t nth_ruby(const struct rcore_rows *rows, size_t start, size_t end, size_t n)
{
	size_t at = start;
	while (at < end && (!is_ruby(rows, at) || n--))
		at++;
	return at;
}

/*
 * Moves the rows [start, end), none of which is kept, to `to`, and folds those
 * after the first `kept` Ruby frames and before the last one. Returns where the
 * next row goes.
 */
static size_t fold_run(struct rcore_rows *rows, size_t start, size_t end, size_t to,
		       size_t kept)
{
	size_t count = 0;
	for (size_t i = start; i < end; i++)
		count += is_ruby(rows, i);
	if (count < kept + LEAST + 1) {
		while (start < end)
			rows->items[to++] = rows->items[start++];
		return to;
	}
	size_t first = nth_ruby(rows, start, end, kept);
	size_t last = nth_ruby(rows, start, end, count - 2);
	const struct rcore_row folded = {RCORE_ROW_LIBRARY, rows->items[first].index,
					 rows->items[last].index - rows->items[first].index +
						 1};
	/* The native frames between both are folded as well. */
	size_t rest = nth_ruby(rows, start, end, count - 1);
	while (start < first)
		rows->items[to++] = rows->items[start++];
	rows->items[to++] = folded;
	while (rest < end)
		rows->items[to++] = rows->items[rest++];
	return to;
}

/* Returns how many rows are native frames inside the innermost Ruby frame. */
static size_t count_wait(const struct rcore_rows *rows, size_t *ret_frames)
{
	size_t at = 0;
	*ret_frames = 0;
	for (; at < rows->count && (rows->items[at].kind == RCORE_ROW_NATIVE ||
				    rows->items[at].kind == RCORE_ROW_INTERPRETER);
	     at++) {
		const struct rcore_row *row = &rows->items[at];
		if (row->kind == RCORE_ROW_NATIVE &&
		    rcore_origin_of_native(&rows->fiber->native[row->index]) ==
			    RCORE_ORIGIN_EXTENSION)
			return 0;
		*ret_frames += row->count;
	}
	return at;
}

/* Whether the frames of the interpreter have something to say. */
static bool is_active(const struct rcore_fiber *fiber, const struct rcore_row *row)
{
	for (size_t i = row->index; i < row->index + row->count && i < fiber->native_count; i++)
		if (rcore_activity_name(&fiber->native[i]))
			return true;
	return false;
}

static void drop_interpreter(struct rcore_rows *rows)
{
	size_t to = 0;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].kind != RCORE_ROW_INTERPRETER ||
		    is_active(rows->fiber, &rows->items[i]))
			rows->items[to++] = rows->items[i];
	rows->count = to;
}

void rcore_rows_fold_libraries(struct rcore_rows *rows)
{
	size_t to = 0, frames, at = 0;
	if (rows->count <= SCREEN)
		return;
	if (rows->fiber->wait && (at = count_wait(rows, &frames)) > 0)
		rows->items[to++] = (struct rcore_row){RCORE_ROW_WAIT, 0, frames};
	for (size_t kept = INNERMOST; at < rows->count; kept = 1) {
		size_t end = at;
		while (end < rows->count && !is_kept(rows, end))
			end++;
		to = fold_run(rows, at, end, to, kept);
		for (at = end; at < rows->count && is_kept(rows, at); at++)
			rows->items[to++] = rows->items[at];
	}
	rows->count = to;
	drop_interpreter(rows);
}
