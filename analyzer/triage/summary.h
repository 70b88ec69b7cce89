/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_SUMMARY_H
#define RCORE_TRIAGE_SUMMARY_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Fills snapshot->summary from the threads, fibers and locks: what blocks whom,
 * and what the threads of each pool do. Writes at most RCORE_SUMMARY_LINES
 * lines. Needs snapshot->deadlocks: a lock whose waiters are all in one
 * deadlock is not listed again. Error: NO_MEMORY.
 */
enum { RCORE_SUMMARY_LINES = 10 };
struct rcore_error *rcore_summary_find(struct rcore_snapshot *snapshot);

/* Whether the line is about fibers that others block. */
static inline bool rcore_summary_is_blocked(const struct rcore_summary_line *line)
{
	return line->kind == RCORE_SUMMARY_LOCK || line->kind == RCORE_SUMMARY_QUEUE ||
	       line->kind == RCORE_SUMMARY_CONNECTIONS || line->kind == RCORE_SUMMARY_JOIN;
}

#endif
