/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PICK_H
#define RCORE_REPORT_PICK_H

#include "base/error.h"
#include "model/snapshot.h"
#include "report/report.h"

/*
 * Which threads and fibers a report shows. A thread is named by its id ("T2"),
 * its kernel thread id ("1240"), its Thread VALUE or its rb_thread_t; a fiber
 * by its id, its Fiber VALUE or its rb_fiber_t; the last two in hex
 * ("0x7f...").
 */
struct rcore_pick {
	int thread; /* index; -1: all */
	int fiber;  /* index; -1: all */
	/* With conditions on the context; NULL: none. */
	const struct rcore_report_options *where;
	bool only_contexts;
};

/*
 * `options` may be NULL, and pick nothing of a snapshot in which nothing was
 * decoded. USAGE where it names what is not there, with a list of what is.
 */
struct rcore_error *rcore_pick_init(const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *options,
				    struct rcore_pick *ret);

/*
 * The one fiber that a command is about: the fiber picked; else the one that
 * runs on the thread picked; else the one that died; else that of the main
 * thread. `ret` is its index. USAGE as above, and where that thread runs none.
 */
struct rcore_error *rcore_pick_one_fiber(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, int *ret);

bool rcore_pick_thread(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		       size_t thread);
bool rcore_pick_fiber(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		      size_t fiber);

#endif
