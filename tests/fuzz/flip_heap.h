/* SPDX-License-Identifier: MIT */
#ifndef FLIP_HEAP_H
#define FLIP_HEAP_H

#include "flip_memory.h"
#include "session/session.h"
#include "target/core/core.h"

/*
 * Reads the whole heap as each subcommand of `rcore heap` does, and writes what
 * can be written. Returns what is wrong with that, or NULL: it may find
 * anything, but must end.
 */
const char *flip_heap(struct rcore_core *core, struct flip_memory *memory,
		      const struct rcore_options *options);

#endif
