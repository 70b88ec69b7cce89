/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_WAITS_H
#define RCORE_REPORT_TEXT_WAITS_H

#include "report/text/text.h"

/*
 * Writes "Deadlock: T2 waits for ...", a line each; nothing if there is none.
 */
void rcore_text_deadlocks(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

/*
 * Writes ", waits for Mutex ..." at the end of a fiber's line; nothing for
 * NULL.
 */
void rcore_text_wait(const struct rcore_text *text, const struct rcore_wait *wait);

/*
 * Writes a line below that of merged fibers: what all of them wait for; nothing
 * if they differ. Sets text->error.
 */
void rcore_text_same_wait(struct rcore_text *text, const int *fibers, size_t count);

#endif
