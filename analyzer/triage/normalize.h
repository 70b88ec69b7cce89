/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_NORMALIZE_H
#define RCORE_TRIAGE_NORMALIZE_H

#include "base/arena.h"
#include "model/snapshot.h"

/*
 * Returns a frame's name without the parts that change from run to run, or with
 * an edit elsewhere: line numbers, addresses, nesting of blocks, the numbers in
 * names that ERB and ActionView generate, the suffixes that compilers add to
 * parts of a function. Returns NULL if memory is short.
 *
 * "block (2 levels) in Foo#bar" becomes "block in Foo#bar", and "rescue in
 * Foo#bar" becomes "Foo#bar"; with `bare`, both become "Foo#bar".
 */
const char *rcore_normalize_label(struct rcore_arena *arena, const char *label, bool bare);

/*
 * Returns "libpq!PQexec" for PQexec.part.0 in libpq.so.5.14, and "libpq" if the
 * function has no name.
 */
const char *rcore_normalize_native(struct rcore_arena *arena,
				   const struct rcore_native_frame *frame);

/* Returns the base name, or "(eval)" for evaluated strings. */
const char *rcore_normalize_path(struct rcore_arena *arena, const char *path);

/*
 * Finds the name by which a reader knows a native frame: its function; without
 * a symbol, the file and the offset in it, which are the same in each run; NULL
 * if neither is known. Returns false if memory is short.
 */
bool rcore_native_name(struct rcore_arena *arena, const struct rcore_native_frame *frame,
		       const char **ret);

#endif
