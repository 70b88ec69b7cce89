/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_HOST_H
#define RCORE_SAMPLER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Finds the processes of this machine that run Ruby, also those that start
 * later. To read the memory map of each process again and again would cost too
 * much. So a process that does not run Ruby is looked at again soon only if its
 * program changes (exec), and otherwise less and less often: its program may
 * load libruby late.
 */
struct rcore_host;

/* How to look at a process; tests replace it. */
struct rcore_host_probe {
	/* Returns what identifies its program; 0: unknown. */
	uint64_t (*program)(int pid);
	/* Returns whether it seems to run Ruby, which takes longer. */
	bool (*runs_ruby)(int pid);
};
extern const struct rcore_host_probe rcore_host_probe;

/* Returns NULL if memory is short. `probe` must outlive the result. */
struct rcore_host *rcore_host_new(const struct rcore_host_probe *probe);
void rcore_host_free(struct rcore_host *host); /* NULL-safe */

/*
 * Looks at those of the processes `pids` for which it is time. `pids` has each
 * process once, in order; `now` is in nanoseconds. Sets *ret to those that seem
 * to run Ruby. The array belongs to `host`, until the next call. The caller may
 * know some of them already. Error: NO_MEMORY.
 */
struct rcore_error *rcore_host_look(struct rcore_host *host, const int *pids, size_t count,
				    uint64_t now, const int **ret, size_t *ret_count);

#endif
