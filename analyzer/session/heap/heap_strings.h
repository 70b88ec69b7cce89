/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_STRINGS_H
#define RCORE_SESSION_HEAP_STRINGS_H

#include "base/error.h"
#include "model/heap/heap_strings.h"
#include "rcore.h"

/*
 * Finds Strings and Arrays that exist several times, and lists the `limit`
 * groups that waste most. The caller frees *ret. Errors: those of
 * rcore_session_graph().
 */
struct rcore_error *rcore_heap_strings(struct rcore_session *session, size_t limit,
				       struct rcore_heap_strings **ret);
/* NULL-safe. */
void rcore_heap_strings_free(struct rcore_heap_strings *strings);

#endif
