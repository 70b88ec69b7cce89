/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_H
#define RCORE_SESSION_RUNNING_H

#include "session/open.h"

/* What is read of a stopped process besides Ruby's own memory. */

/*
 * Keeps the used part of each machine stack of the snapshot's fibers and the
 * kernel threads, so that it can be unwound later. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_keep_stacks(const struct rcore_target *target,
					      const struct rcore_snapshot *snapshot);

/*
 * For each fiber that waits for descriptors, sets what they are. Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_running_fds(const struct rcore_target *target,
				      struct rcore_snapshot *snapshot);

/*
 * Adds the addresses of those that are sockets. The process need not be
 * stopped. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_sockets(const struct rcore_target *target,
					  struct rcore_snapshot *snapshot);

#endif
