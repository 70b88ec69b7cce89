/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_H
#define RCORE_SESSION_RUNNING_H

#include "session/open.h"

/*
 * What is read of a running process besides Ruby's own memory, while it is
 * stopped.
 */

/*
 * Keeps the used part of each machine stack that the snapshot's fibers and the
 * kernel threads have, for the step that unwinds them. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_keep_stacks(const struct rcore_target *target,
					      const struct rcore_snapshot *snapshot);

/* Sets what is open where a fiber waits for a descriptor. Error: NO_MEMORY. */
struct rcore_error *rcore_running_fds(const struct rcore_target *target,
				      struct rcore_snapshot *snapshot);

/*
 * Adds the addresses of those that are sockets; the process need not be stopped
 * for it. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_sockets(const struct rcore_target *target,
					  struct rcore_snapshot *snapshot);

#endif
