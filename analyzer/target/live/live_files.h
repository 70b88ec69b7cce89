/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_FILES_H
#define RCORE_TARGET_LIVE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "target/process.h"

/*
 * What /proc says about one process. Everything is read through `folder`, a
 * descriptor of /proc/PID. If the process ends, it leads nowhere, and never to
 * another process that got the same id.
 */

/*
 * Returns the bytes of /proc/PID/`name`, NUL-terminated; the caller frees them.
 * *size may be NULL. On NULL, errno says why (EFBIG for over 64 MiB).
 */
char *rcore_live_file(int folder, const char *name, size_t *size);

/* /proc/PID/status. */
struct rcore_live_status {
	/*
	 * The program's name, 15 bytes of it; a kernel thread's may be longer.
	 */
	char name[64];
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', 'X' ... */
	int tgid, parent, tracer;
	int thread_count;
	bool has_memory; /* false: a zombie, ending, or a kernel thread */
	/*
	 * The id that the process itself sees, in the innermost pid namespace,
	 * and how many namespaces are in between (0: it is in ours).
	 */
	int inner_id, depth;
	uid_t user;  /* real */
	gid_t group; /* real */
	/* voluntary_ctxt_switches; those of one task, not of all threads. */
	uint64_t waits;
};

/*
 * `task` is "status" for the process, or "task/TID/status". Returns false if it
 * is gone or cannot be read.
 */
bool rcore_live_status_read(int folder, const char *task, struct rcore_live_status *ret);

/* The same for the process or the thread `id`. */
bool rcore_live_status_of(int id, struct rcore_live_status *ret);

/*
 * A process goes on after its main thread has ended, until its other threads
 * have. But /proc/PID then shows no memory, no files and no arguments. The
 * folder of another thread, /proc/TID, shows these, and lists the same threads.
 *
 * Opens /proc/PID or, if the main thread has ended, the folder of a thread that
 * has not. Sets *ret to the id of the process or of that thread. Returns -1 and
 * sets errno if there is no such process.
 */
int rcore_live_folder_open(int pid, int *ret);

/*
 * Finds the folder that shows the memory of a process: `home`, which is
 * /proc/PID, or that of another thread. Returns a new descriptor, and the id of
 * the thread in *ret. Returns -1 if no thread has memory.
 */
int rcore_live_folder_find(int home, int pid, int *ret);

/* A zombie, whose parent has not waited for it yet, has ended, too. */
bool rcore_live_has_ended(int pid);

/* Returns whether the process sees other files than rcore at the same path. */
bool rcore_live_has_own_root(int folder);

bool rcore_live_is_kernel_thread(int folder);

/* A range of the address space, with or without a file. */
struct rcore_live_region {
	uint64_t start, end;
	bool readable, writable, executable;
	/*
	 * Of a file, the vdso or a JIT, and not writable: its bytes do not
	 * change.
	 */
	bool is_constant;
	/*
	 * is_private: no other process sees what the program writes there.
	 * is_anonymous: it also has no file, so pages that were never written
	 * read as zeroes.
	 */
	bool is_private, is_anonymous;
};

struct rcore_live_maps {
	/* Those that map files, like in NT_FILE. */
	struct rcore_mapping *mappings;
	size_t mapping_count;
	struct rcore_live_region *regions; /* all; both are sorted by start */
	size_t region_count;
};

/*
 * Reads /proc/PID/maps; all memory belongs to `arena`. A mapping's `file` is
 * set if the process's own file can be opened, which includes deleted ones and
 * those of other mount namespaces. Returns 0 or errno.
 */
int rcore_live_maps_read(int folder, int pid, struct rcore_arena *arena,
			 struct rcore_live_maps *ret);

/* Returns the region that contains `address`, or NULL. */
const struct rcore_live_region *rcore_live_region_at(const struct rcore_live_maps *maps,
						     uint64_t address);

/*
 * Calls `visit` with the kernel's ids of all threads, in the order of /proc,
 * until it returns false. Returns 0 or errno.
 */
int rcore_live_tasks(int folder, bool (*visit)(void *context, int tid), void *context);

/*
 * Returns how many threads the list has; 0 if that is not known. Costs far less
 * than the list.
 */
size_t rcore_live_task_count(int folder);

#endif
