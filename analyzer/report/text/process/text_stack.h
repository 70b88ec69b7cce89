/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_STACK_H
#define RCORE_REPORT_TEXT_STACK_H

/*
 * report/text/process/ writes the parts of the report of a process: its header,
 * threads, fibers, stacks and waits. text.c calls them in order.
 */

#include "model/snapshot.h"
#include "report/report.h"
#include "report/text/style.h"

/*
 * Prints the stack of a fiber, one frame per line, innermost first; Ruby frames
 * have numbers. Unless options->all is set, it folds repeated cycles, leaves
 * out the middle of a very deep stack, and skips the VM's own dummy frames. It
 * says what it folds or leaves out. With `fold_libraries`, it also folds frames
 * of gems; see rcore_rows_fold_libraries(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_text_stack(const struct rcore_pen *pen,
				     const struct rcore_report_options *options,
				     const struct rcore_fiber *fiber, bool fold_libraries);

/*
 * Prints the native stack of a kernel thread without Ruby in the same way.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_text_native_stack(const struct rcore_pen *pen, bool all,
					    const struct rcore_other_thread *thread);

/* Prints a Ruby frame on a line of its own. */
void rcore_text_frame(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
		      size_t index);

/* Returns the innermost frame with a place in Ruby source, or NULL. */
const struct rcore_frame *rcore_text_place(const struct rcore_fiber *fiber);

#endif
