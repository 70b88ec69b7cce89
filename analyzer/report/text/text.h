/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_H
#define RCORE_REPORT_TEXT_H

/*
 * report/text/ is the report for people, in one file per part: header,
 * threads, fibers, stacks, waits. Start here.
 */

#include "report/pick.h"
#include "report/text/style.h"

/* The state of one text report: shared by the text_*.c files, not public. */
struct rcore_text {
	struct rcore_pen pen;
	const struct rcore_snapshot *snapshot;
	struct rcore_report_options options;
	struct rcore_pick pick;
	size_t *visible;         /* fibers shown of each group */
	size_t *visible_threads; /* threads shown of each group of threads */
	int *orphans;            /* fibers whose thread is not known */
	size_t orphan_count;
	struct rcore_error *error; /* the first: memory was short */
	struct {
		int id, tid, name, status;
	} columns; /* of the thread lines */
};

/* Ids listed before "98 more". */
enum { RCORE_TEXT_IDS = 20 };

/* Gives what rcore_text_deinit() frees. USAGE as rcore_report_text(). */
struct rcore_error *rcore_text_init(struct rcore_text *text,
				    const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *options, FILE *out);
void rcore_text_deinit(struct rcore_text *text);

/* How wide the columns of the thread lines are. */
void rcore_text_measure(struct rcore_text *text);

/*
 * "core.1234  ruby 3.3.8 ..." and "Killed by ...", and what is wrong with both.
 */
void rcore_text_header(const struct rcore_text *text);

/*
 * Which threads are stuck, on what, and what pools do; nothing where there is
 * nothing to tell.
 */
void rcore_text_summary(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

/* The task tree of the gem async; nothing where there is none. */
void rcore_text_tasks(const struct rcore_text *text);

/* Ractors, ARGV, RUBYOPT, gems, and what the GC does. */
void rcore_text_facts(const struct rcore_text *text);

void rcore_text_threads(struct rcore_text *text);

/* Its parts: a thread's line and fibers; and what stands behind the threads. */
void rcore_text_thread(struct rcore_text *text, size_t index);
void rcore_text_rest(struct rcore_text *text);

/*
 * The indices of the living threads that are shown, the most interesting first:
 * that which died, those that run, that hold a lock others want, that are
 * blocked. Of merged threads only the first is among them. `ret` has room for
 * snapshot->thread_count indices. Returns how many there are.
 */
size_t rcore_text_thread_order(const struct rcore_text *text, size_t *ret);

/* Whether a thread is shown with others that have the same stack. */
bool rcore_text_is_merged(const struct rcore_text *text, const struct rcore_thread *thread);

/* All threads of a group: who they are, what they wait for, and their stack. */
void rcore_text_thread_group(struct rcore_text *text, size_t group);

/*
 * "8 threads with the same stack" or "8 threads idle in Pool#run", of the
 * visible ones.
 */
void rcore_text_thread_group_title(const struct rcore_text *text, size_t group, FILE *out);

/*
 * The fibers picked of a list of indices, each with its stack, but for those
 * that differ from others by id alone.
 */
void rcore_text_fibers(struct rcore_text *text, const int *fibers, size_t count);

/* The stack of one fiber; `all`: nothing of it is folded. Sets text->error. */
void rcore_text_one_stack(struct rcore_text *text, const struct rcore_fiber *fiber, bool all);

/*
 * Ends a line with the ids of merged fibers, of which `visible` are picked: ":
 * T3 T4 ...". If one has a context, each has a line of its own.
 */
void rcore_text_merged(const struct rcore_text *text, const int *fibers, size_t count,
		       size_t visible);

/* The merged fibers of living threads, or of the others. */
void rcore_text_groups(struct rcore_text *text, bool ended);

/* Ends a line of ids: " and 98 more ..." where not all are shown. */
void rcore_text_ids_end(const struct rcore_text *text, size_t count, size_t shown);

/* "  ! problem" on a line of its own. */
void rcore_text_problem(const struct rcore_text *text, const char *problem);

/* The last section: what could not be read; nothing where all could. */
void rcore_text_problems(const struct rcore_text *text);

#endif
