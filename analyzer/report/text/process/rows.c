/* SPDX-License-Identifier: MIT */
#include "report/text/process/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/locals_same.h"

static bool add(struct rcore_rows *rows, enum rcore_row_kind kind, size_t index)
{
	struct rcore_row *row = rcore_push(rows);
	if (row)
		*row = (struct rcore_row){kind, index, 1};
	return row;
}

static bool add_ruby(struct rcore_rows *rows, size_t index, bool with_dummies)
{
	const struct rcore_frame *frame = &rows->fiber->frames[index];
	return (frame->kind == RCORE_FRAME_DUMMY && !frame->problem && !with_dummies) ||
	       add(rows, RCORE_ROW_RUBY, index);
}

static bool add_native(struct rcore_rows *rows, size_t index, enum rcore_native_shown shown,
		       bool outside)
{
	const struct rcore_native_frame *frame = &rows->fiber->native[index];
	enum rcore_row_kind kind = shown == RCORE_NATIVE_ALL ? RCORE_ROW_NATIVE
				   : outside                 ? RCORE_ROW_START
				   : frame->is_interpreter   ? RCORE_ROW_INTERPRETER
							     : RCORE_ROW_NATIVE;
	struct rcore_row *last = rows->count ? &rows->items[rows->count - 1] : NULL;
	if (last && kind != RCORE_ROW_NATIVE && last->kind == kind) {
		last->count++;
		return true;
	}
	return add(rows, kind, index);
}

/*
 * Returns the step after the outermost Ruby frame; the frames from there on
 * show how the thread or fiber was started. A stack without Ruby frames has no
 * such part.
 */
static size_t start_of(const struct rcore_fiber *fiber)
{
	for (size_t i = fiber->step_count; i-- > 0;)
		if (fiber->steps[i].kind == RCORE_STEP_RUBY)
			return i + 1;
	return fiber->step_count;
}

struct rcore_error *rcore_rows_init(struct rcore_rows *rows, const struct rcore_fiber *fiber,
				    enum rcore_native_shown native, bool with_dummies)
{
	*rows = (struct rcore_rows){.fiber = fiber};
	bool ok = true;
	if (native == RCORE_NATIVE_NONE || !fiber->step_count) {
		for (size_t i = 0; ok && i < fiber->frame_count; i++)
			ok = add_ruby(rows, i, with_dummies);
	} else {
		size_t start = start_of(fiber);
		for (size_t i = 0; ok && i < fiber->step_count; i++) {
			const struct rcore_step *step = &fiber->steps[i];
			size_t index = (size_t)step->index;
			if (step->kind == RCORE_STEP_RUBY)
				ok = add_ruby(rows, index, with_dummies);
			else if (step->kind == RCORE_STEP_NATIVE)
				ok = add_native(rows, index, native, i >= start);
			else
				ok = add(rows, RCORE_ROW_GAP, i);
		}
	}
	if (ok)
		return NULL;
	rcore_rows_deinit(rows);
	return rcore_error_no_memory();
}

struct rcore_error *rcore_rows_init_native(struct rcore_rows *rows,
					   const struct rcore_fiber *fiber)
{
	*rows = (struct rcore_rows){.fiber = fiber};
	for (size_t i = 0; i < fiber->native_count; i++) {
		if (!add(rows, RCORE_ROW_NATIVE, i)) {
			rcore_rows_deinit(rows);
			return rcore_error_no_memory();
		}
	}
	return NULL;
}

void rcore_rows_deinit(struct rcore_rows *rows)
{
	free(rows->items);
	*rows = (struct rcore_rows){0};
}

bool rcore_row_same(const struct rcore_rows *rows, size_t a, size_t b)
{
	const struct rcore_row *x = &rows->items[a], *y = &rows->items[b];
	if (x->kind != y->kind || x->count != y->count)
		return false;
	switch (x->kind) {
	case RCORE_ROW_RUBY:
		return rcore_frame_same(&rows->fiber->frames[x->index],
					&rows->fiber->frames[y->index]);
	case RCORE_ROW_NATIVE:
		return rows->fiber->native[x->index].pc == rows->fiber->native[y->index].pc &&
		       rows->fiber->native[x->index].is_inlined ==
			       rows->fiber->native[y->index].is_inlined;
	case RCORE_ROW_INTERPRETER:
		return true;
	case RCORE_ROW_LIBRARY:
		for (size_t i = 0; i < x->count; i++)
			if (!rcore_frame_same(&rows->fiber->frames[x->index + i],
					      &rows->fiber->frames[y->index + i]))
				return false;
		return true;
	default:
		return false;
	}
}
