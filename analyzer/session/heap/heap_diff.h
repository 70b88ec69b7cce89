/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_DIFF_H
#define RCORE_SESSION_HEAP_DIFF_H

#include "base/error.h"
#include "model/heap/heap_diff.h"
#include "rcore.h"

/*
 * Compares two or three targets, the oldest first, and lists the `limit` paths
 * and classes that grew most; with three, those that grew both times. One of
 * them may be a running process. The caller frees *ret. Errors: those of
 * rcore_session_graph().
 */
struct rcore_error *rcore_heap_diff(struct rcore_session *const *sessions, size_t count,
				    size_t limit, struct rcore_heap_diff **ret);
void rcore_heap_diff_free(struct rcore_heap_diff *diff); /* NULL-safe */

#endif
