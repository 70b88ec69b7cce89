/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_VERIFY_H
#define RCORE_SESSION_HEAP_VERIFY_H

#include "base/error.h"
#include "model/heap/heap_verify.h"
#include "rcore.h"

/*
 * Checks each object and each exact reference, and lists the first `limit`
 * defects. The caller frees *ret. Errors: those of rcore_session_graph().
 */
struct rcore_error *rcore_heap_verify(struct rcore_session *session, size_t limit,
				      struct rcore_heap_verified **ret);
/* NULL-safe. */
void rcore_heap_verified_free(struct rcore_heap_verified *verified);

#endif
