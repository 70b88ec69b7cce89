/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_ROWS_H
#define RCORE_REPORT_ROWS_H

#include "base/error.h"
#include "model/snapshot.h"
#include "report/report.h"

/* A line of a stack. */
enum rcore_row_kind {
	RCORE_ROW_RUBY,   /* index into fiber->frames */
	RCORE_ROW_NATIVE, /* index into fiber->native */
	/* `count` native frames of the interpreter, from `index` on. */
	RCORE_ROW_INTERPRETER,
	/* `count` native frames from the outermost Ruby frame outwards. */
	RCORE_ROW_START,
	RCORE_ROW_GAP, /* fiber->steps[index] says why */
	/* `count` native frames that wait, inside the innermost Ruby frame. */
	RCORE_ROW_WAIT,
	/* Of `count` frames of fiber->frames from `index` on, none is the
	 * application's. */
	RCORE_ROW_LIBRARY,
};

struct rcore_row {
	enum rcore_row_kind kind;
	size_t index, count;
};

struct rcore_rows {
	const struct rcore_fiber *fiber;
	struct rcore_row *items;
	size_t count, capacity;
	bool with_hidden; /* also hidden locals; set by the caller */
};

/*
 * Sets the lines to print for a fiber's stack, innermost first; the caller
 * deinits them. The VM's own dummy frames are included only `with_dummies`, or
 * if they are broken. Error: NO_MEMORY.
 */
struct rcore_error *rcore_rows_init(struct rcore_rows *rows, const struct rcore_fiber *fiber,
				    enum rcore_native_shown native, bool with_dummies);

/* The same for a stack that has only native frames. Shows all of them. */
struct rcore_error *rcore_rows_init_native(struct rcore_rows *rows,
					   const struct rcore_fiber *fiber);
void rcore_rows_deinit(struct rcore_rows *rows);

/*
 * In a long stack, replaces runs of frames of gems and
 * of the standard library by one row each, except the frames next to those of
 * the application, and the innermost and outermost ones. Leaves out frames of
 * the interpreter that have nothing to say. If the fiber waits, also replaces
 * the native frames that wait.
 */
void rcore_rows_fold_libraries(struct rcore_rows *rows);

/* Whether two rows look the same. */
bool rcore_row_same(const struct rcore_rows *rows, size_t a, size_t b);

#endif
