/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_SUMMARY_TEXT_H
#define RCORE_TRIAGE_SUMMARY_TEXT_H

#include "model/snapshot.h"

/*
 * Writes the subject and the verb: "T1 waits"; "3 threads wait" if each fiber
 * is its thread's current one, otherwise "3 fibers wait".
 */
void rcore_summary_who(const struct rcore_snapshot *snapshot, const int *fibers, size_t count,
		       const char *singular, const char *plural, FILE *out);

/* Writes "Rate.fetch (app/rate.rb:14)", or without the line. */
void rcore_summary_frame(const struct rcore_frame *frame, bool with_line, FILE *out);

/*
 * Returns the frame that says where a fiber is: the innermost one of the
 * application; if there is none, the innermost one that has a file, other than
 * "<internal:...>"; or NULL.
 */
const struct rcore_frame *rcore_summary_place(const struct rcore_fiber *fiber);

/*
 * Writes where the fibers wait: "; 3 wait in Cart#update (app/cart.rb:3), 1 in
 * Page#load (app/page.rb:4), 2 unknown", or nothing if no place is known. The
 * places of the most fibers come first; only a few are written.
 */
void rcore_summary_places(const struct rcore_snapshot *snapshot, const int *fibers,
			  size_t count, FILE *out);

/*
 * Writes what the holder of a lock does, and where: ", which sleeps for 5 s in
 * Rate.fetch (app/rate.rb:14)". If it waits for another fiber (see
 * rcore_waited_fiber()), what that one does follows.
 */
void rcore_summary_holder(const struct rcore_snapshot *snapshot, int fiber, FILE *out);

/* Writes the same after `before` in place of ", which ". */
void rcore_summary_state(const struct rcore_snapshot *snapshot, int fiber, const char *before,
			 FILE *out);

/*
 * Writes ", which runs T3.F2" if the text of the wait names only the thread T3,
 * and the sentence goes on with that fiber. A wait names a thread if it is for
 * the end of the thread, or for a lock up to 2.7, where rb_mutex_t has no
 * fiber.
 */
void rcore_summary_current(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
			   int next, FILE *out);

#endif
