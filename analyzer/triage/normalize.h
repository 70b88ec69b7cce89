/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_NORMALIZE_H
#define RCORE_TRIAGE_NORMALIZE_H

#include "base/arena.h"
#include "model/snapshot.h"

/*
 * A frame's name without what changes from run to run, or with an edit that
 * does not touch it: line numbers, addresses, nesting of blocks, the numbers in
 * the names that ERB and ActionView generate, the suffixes that compilers add
 * to the parts of a function. NULL: memory is short.
 *
 * "block (2 levels) in Foo#bar" and "rescue in Foo#bar" give "block in Foo#bar"
 * and "Foo#bar"; with `bare`, both "Foo#bar".
 */
const char *rcore_normalize_label(struct rcore_arena *arena, const char *label, bool bare);

/*
 * "libpq!PQexec" of PQexec.part.0 in libpq.so.5.14; "libpq" where the function
 * has no name.
 */
const char *rcore_normalize_native(struct rcore_arena *arena,
				   const struct rcore_native_frame *frame);

/* Base name; "(eval)" of every string that was evaluated. */
const char *rcore_normalize_path(struct rcore_arena *arena, const char *path);

/*
 * What a reader knows a native frame by: its function; without a symbol the
 * file and the place in it, which are the same in each run. NULL: neither is
 * known. false: memory is short.
 */
bool rcore_native_name(struct rcore_arena *arena, const struct rcore_native_frame *frame,
		       const char **ret);

#endif
