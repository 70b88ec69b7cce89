/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_FILES_H
#define RCORE_TARGET_LIVE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "target/process.h"

/*
 * What /proc tells of one process. All is read through `folder`, a descriptor
 * of /proc/PID: when the process ends it leads nowhere, never to another that
 * got its number.
 */

/*
 * The bytes of /proc/PID/`name`, NUL-terminated, to be freed; *size may be
 * NULL. NULL: errno says why (EFBIG past 64 MiB).
 */
char *rcore_live_file(int folder, const char *name, size_t *size);

/* /proc/PID/status. */
struct rcore_live_status {
	/* Of the program, 15 bytes of it; of a kernel thread, more. */
	char name[64];
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', 'X' ... */
	int tgid, parent, tracer;
	int thread_count;
	/*
	 * The id that the process itself sees, in the innermost pid namespace;
	 * with it, how many namespaces lie between (0: it is in ours).
	 */
	int inner_id, depth;
	uid_t user; /* real */
};

/*
 * `task` is "status" of the process, or "task/TID/status". false: gone, or not
 * readable.
 */
bool rcore_live_status_read(int folder, const char *task, struct rcore_live_status *ret);

bool rcore_live_is_kernel_thread(int folder);

/* A range of the address space, of a file or not. */
struct rcore_live_region {
	uint64_t start, end;
	/*
	 * Of a file or the vdso, and not writable: its bytes stay what they
	 * are.
	 */
	bool is_constant;
};

struct rcore_live_maps {
	/* Those of files, as NT_FILE has them. */
	struct rcore_mapping *mappings;
	size_t mapping_count;
	struct rcore_live_region *regions; /* all; both are sorted by start */
	size_t region_count;
};

/*
 * /proc/PID/maps; all of `arena`. A mapping's `file` is set where the process's
 * own file can be opened, deleted ones and those of other mount namespaces too.
 * 0, or errno.
 */
int rcore_live_maps_read(int folder, int pid, struct rcore_arena *arena,
			 struct rcore_live_maps *ret);

/* The region that holds `address`, or NULL. */
const struct rcore_live_region *rcore_live_region_at(const struct rcore_live_maps *maps,
						     uint64_t address);

/*
 * The kernel's ids of all threads, in the order of /proc; calls `visit` for
 * each until that gives false. 0, or errno.
 */
int rcore_live_tasks(int folder, bool (*visit)(void *context, int tid), void *context);

#endif
