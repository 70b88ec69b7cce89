/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_WAITS_H
#define RCORE_REPORT_TEXT_WAITS_H

#include "report/text/text.h"

/* "Deadlock: T2 waits for ...", each a line; nothing where there is none. */
void rcore_text_deadlocks(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

/* ", waits for Mutex ..." at the end of a fiber's line; nothing for NULL. */
void rcore_text_wait(const struct rcore_text *text, const struct rcore_wait *wait);

/*
 * A line under that of merged fibers: what all of them wait for; nothing if
 * they differ.
 */
void rcore_text_same_wait(const struct rcore_text *text, const int *fibers, size_t count);

#endif
