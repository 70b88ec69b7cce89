/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_RECORD_EVENTS_H
#define RCORE_CLI_RECORD_EVENTS_H

#include "base/arena.h"
#include "cli/profile/record_arguments.h"

/* What `rcore record` records, and what --event names. */

/*
 * Sets ret->event, and the members for all of asked->events; strings belong to
 * `arena`. Errors: USAGE, NO_MEMORY.
 */
struct rcore_error *rcore_record_events(const struct rcore_record_arguments *asked,
					struct rcore_arena *arena,
					struct rcore_bpf_options *ret);

/*
 * Replaces the files of functions by those that process `pid` has mapped under
 * that path or name, which may be in a container. Others stay as they are.
 */
void rcore_record_find_files(int pid, struct rcore_arena *arena,
			     struct rcore_bpf_options *options);

#endif
