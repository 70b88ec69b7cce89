/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_HEAP_H
#define RCORE_SESSION_PACK_HEAP_H

#include "session/session.h"

/*
 * Fails with USAGE if options.record_heap is set and does not fit the other
 * options.
 */
struct rcore_error *rcore_pack_heap_check(const struct rcore_options *options);

/* Fails with USAGE if the target is a pack that does not have the heap. */
struct rcore_error *rcore_pack_heap_check_target(const struct rcore_target *target);

/*
 * Notes for the pack all memory that the target has written: the copy of a
 * running process (rcore_running_copy()), or what a core has saved; and the
 * constants of its files, which have the names of types. Call it before the
 * target is read, so that the recorder need not mark what is read of these.
 * Does nothing if it was called before. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_record_heap(const struct rcore_session *session);

#endif
