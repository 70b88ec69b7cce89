/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_H
#define RCORE_REPORT_TEXT_H

/*
 * report/text/ writes what people read. process/ has the parts of the report of
 * a process, heap/ those of `rcore heap`. It includes report/ and model/. Start
 * here.
 */

#include "report/pick.h"
#include "report/text/style.h"

/* The state of one text report, shared by the text_*.c files. Not public. */
struct rcore_text {
	struct rcore_pen pen;
	const struct rcore_snapshot *snapshot;
	struct rcore_report_options options;
	struct rcore_pick pick;
	size_t *visible; /* for each group, how many fibers are shown */
	/* for each group of threads, how many are shown */
	size_t *visible_threads;
	int *orphans; /* fibers whose thread is not known */
	size_t orphan_count;
	struct rcore_error *error; /* the first one: memory was short */
	struct {
		int id, tid, name, status;
	} columns; /* of the thread lines */
};

/* Ids listed before "98 more". */
enum { RCORE_TEXT_IDS = 20 };

/*
 * Prepares `text`; call rcore_text_deinit() at the end. Error: USAGE as for
 * rcore_report_text().
 */
struct rcore_error *rcore_text_init(struct rcore_text *text,
				    const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *options, FILE *out);
void rcore_text_deinit(struct rcore_text *text);

/* Measures the columns of the thread lines. */
void rcore_text_measure(struct rcore_text *text);

/*
 * Writes "core.1234 ruby 3.3.8 ..." and "Killed by ...", and problems of both.
 */
void rcore_text_header(const struct rcore_text *text);

/*
 * Writes which threads are blocked by what, and what pools do; nothing if there
 * is nothing to say.
 */
void rcore_text_summary(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

/* Writes the task tree of the gem async; nothing if there is none. */
void rcore_text_tasks(const struct rcore_text *text);

/* Writes Ractors, ARGV, RUBYOPT, gems, and the state of the GC. */
void rcore_text_facts(const struct rcore_text *text);

/*
 * Writes how many threads and fibers are not shown by themselves; nothing if
 * all are.
 */
void rcore_text_left_out(const struct rcore_text *text);

void rcore_text_threads(struct rcore_text *text);

/* Write a thread's line and fibers, and what follows the threads. */
void rcore_text_thread(struct rcore_text *text, size_t index);
void rcore_text_rest(struct rcore_text *text);

/*
 * Returns the indices of the living threads to show, the most interesting
 * first: the one that died, then those that run, that hold a lock others want,
 * that are blocked. Of merged threads, only the first is included. `ret` has
 * room for snapshot->thread_count indices. Returns their number.
 */
size_t rcore_text_thread_order(const struct rcore_text *text, size_t *ret);

/* Whether a thread is shown together with others that have the same stack. */
bool rcore_text_is_merged(const struct rcore_text *text, const struct rcore_thread *thread);

/*
 * Writes all threads of a group: their names, what they wait for, and their
 * stack.
 */
void rcore_text_thread_group(struct rcore_text *text, size_t group);

/*
 * Writes those fibers of a list of indices that are selected, each with its
 * stack, except fibers that differ from others only by id.
 */
void rcore_text_fibers(struct rcore_text *text, const int *fibers, size_t count);

/*
 * Whether a thread is shown in one line: it has one fiber, which is idle, and
 * nothing else is to be said about it. Then rcore_text_brief() ends the line.
 */
bool rcore_text_is_brief(const struct rcore_text *text, const struct rcore_thread *thread);
void rcore_text_brief(const struct rcore_text *text, const struct rcore_thread *thread);

/* Writes the stack of one fiber, not folded if `all`. Sets text->error. */
void rcore_text_one_stack(struct rcore_text *text, const struct rcore_fiber *fiber, bool all);

/*
 * Ends a line with the ids of merged fibers, of which `visible` are selected:
 * ": T3 T4 ...". If one has a context or works on something, those that have
 * the same share a line. Sets text->error.
 */
void rcore_text_merged(struct rcore_text *text, const int *fibers, size_t count,
		       size_t visible);

/* Writes the merged fibers of living threads, or of the others. */
void rcore_text_groups(struct rcore_text *text, bool ended);

/*
 * Ends a line with the ids of at most RCORE_TEXT_SIMILAR of `count` threads or
 * fibers that are similar to those of a group.
 */
enum { RCORE_TEXT_SIMILAR = 5 };
void rcore_text_similar_end(const struct rcore_text *text, size_t count);

/* Ends a line of ids: " and 98 more ..." if not all are shown. */
void rcore_text_ids_end(const struct rcore_text *text, size_t count, size_t shown);

/* Writes the stack of a kernel thread without Ruby. Sets text->error. */
void rcore_text_other(struct rcore_text *text, const struct rcore_other_thread *other);

/*
 * Returns the kernel thread without Ruby that is selected, or that died: like a
 * Ruby thread that died, it comes first, and rcore_text_rest() does not show
 * its stack. NULL: none.
 */
const struct rcore_other_thread *rcore_text_first_other(const struct rcore_text *text);

/* Writes "  ! problem" on a line of its own. */
void rcore_text_problem(const struct rcore_text *text, const char *problem);

/*
 * Writes the last section: what could not be read; nothing if everything could.
 */
void rcore_text_problems(const struct rcore_text *text);

#endif
