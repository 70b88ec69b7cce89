/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PICK_H
#define RCORE_REPORT_PICK_H

#include "base/error.h"
#include "model/snapshot.h"
#include "report/report.h"

/*
 * Selects the threads and fibers that a report shows. A thread is named by its
 * id ("T2"), its kernel thread id ("1240"), its Thread VALUE or its
 * rb_thread_t; a fiber by its id, its Fiber VALUE or its rb_fiber_t. The last
 * two are in hex ("0x7f..."). A kernel thread without Ruby is named by its
 * kernel thread id.
 */
struct rcore_pick {
	int thread; /* index; -1: all */
	int fiber;  /* index; -1: all */
	/* If it is not NULL, no Ruby thread or fiber is selected. */
	const struct rcore_other_thread *other;
	/* With conditions on the context; NULL: none. */
	const struct rcore_report_options *where;
	bool only_contexts;
};

/*
 * Reads the selection from `options`, which may be NULL. Selects nothing if
 * nothing was decoded. Error: USAGE if options name something that does not
 * exist; the message lists what exists. rcore_pick_any() also selects a kernel
 * thread without Ruby; for rcore_pick_init(), that is an error.
 */
struct rcore_error *rcore_pick_any(const struct rcore_snapshot *snapshot,
				   const struct rcore_report_options *options,
				   struct rcore_pick *ret);
struct rcore_error *rcore_pick_init(const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *options,
				    struct rcore_pick *ret);

/*
 * Finds the fiber that a command is about: the selected fiber, or the one that
 * the selected thread runs, or the one that died, or that of the main thread.
 * *ret is its index. Error: USAGE as above, or if that thread runs no fiber.
 */
struct rcore_error *rcore_pick_one_fiber(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, int *ret);

/*
 * Finds the kernel thread without Ruby whose stack a command prints: the
 * selected one or, if nothing is selected, the one that died. *ret is NULL if
 * there is none. Error: USAGE as above.
 */
struct rcore_error *rcore_pick_other(const struct rcore_snapshot *snapshot,
				     const struct rcore_report_options *options,
				     const struct rcore_other_thread **ret);

/*
 * Returns the kernel thread without Ruby that died. Returns NULL if a Ruby
 * thread died, or if rcore did not try to read the stack.
 */
const struct rcore_other_thread *rcore_died_other(const struct rcore_snapshot *snapshot);

bool rcore_pick_thread(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		       size_t thread);
bool rcore_pick_fiber(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		      size_t fiber);

#endif
