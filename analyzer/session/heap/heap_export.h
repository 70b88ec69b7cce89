/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_EXPORT_H
#define RCORE_SESSION_HEAP_EXPORT_H

#include <stdio.h>

#include "rcore.h"
#include "report/heap_export.h"

/*
 * Write the reachable objects in a format of other tools. *ret_partial: some
 * could not be read, or some paths are written as shorter ones. Errors: those
 * of rcore_session_graph() and of the writer.
 */
struct rcore_error *rcore_heap_export_snapshot(struct rcore_session *session, FILE *out,
					       bool *ret_partial);
struct rcore_error *rcore_heap_export_pprof(struct rcore_session *session,
					    rcore_heap_pprof *write, FILE *out,
					    bool *ret_partial);

#endif
