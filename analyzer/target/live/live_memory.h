/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_MEMORY_H
#define RCORE_TARGET_LIVE_MEMORY_H

#include "base/standby.h"
#include "target/live/live_files.h"
#include "target/live/live_stop.h"
#include "target/memory.h"

enum { RCORE_LIVE_PAGE = 4096 }; /* divides the page size of each machine */

/*
 * Reads the current bytes of a running process: with process_vm_readv(), or
 * from /proc/PID/mem if that call is forbidden (containers). The target's
 * threads need not be stopped.
 */
struct rcore_live_memory {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	/*
	 * `task` is the thread through which the memory is read, and `folder`
	 * its folder in /proc: those of the process, unless its main thread
	 * ends before the others. `folder` is not owned, and its number stays
	 * the same when it is replaced.
	 */
	int pid, task, folder;
	int home;     /* /proc/PID, if `folder` is another one; or -1 */
	bool is_half; /* a second thread's copy, which must not change */
	/* /proc/PID/mem, opened when it is first needed; or -1 */
	int file;
	/*
	 * If it no longer holds the process, what is read counts as not read.
	 * NULL: the process need not be held.
	 */
	struct rcore_stop *stop;
	/*
	 * Reads one half while the process is stopped; NULL: there is none.
	 * `is_urgent`: whether that thread has a real-time priority.
	 */
	struct rcore_standby *standby;
	bool is_urgent;
	/* What is read then counts as read, and is counted in late_count. */
	bool reads_late;
	/*
	 * The process was resumed before the round ended; is_overdue: because
	 * the limit was reached. Later reads are counted in late_count. They
	 * succeed, or if is_overdue, only if reads_late is set.
	 */
	bool is_released, is_overdue;
	size_t late_count; /* of calls */
	/* Of these, those that do not matter: rcore_live_allow_late(). */
	size_t allowed_count;
	bool allows_late;
	/* Distinguishes a hole from what cannot be read. */
	const struct rcore_live_maps *maps;
	bool is_gone; /* a read found no process */
};

void rcore_live_memory_init(struct rcore_live_memory *memory, int pid, int folder,
			    const struct rcore_live_maps *maps);
void rcore_live_memory_deinit(struct rcore_live_memory *memory);

/*
 * Finds a thread that still has the memory of the process, if the one through
 * which it was read has ended. Returns false if there is none.
 */
bool rcore_live_memory_follow(struct rcore_live_memory *memory);

/* Pages of the list of copied ones, which is sorted: [first, end). */
struct rcore_live_span {
	uint32_t first, end;
};

/* A part of an address space that a batch reads into `bytes`. */
struct rcore_live_range {
	uint64_t start;
	size_t size;
	uint8_t *bytes;
	/*
	 * Result: how much of `size` was read, up to the first page that cannot
	 * be read.
	 */
	size_t read;
};

/* A part of the address space that a copy of the process has. */
struct rcore_live_part {
	uint64_t start, end;
	bool is_zero; /* never written: it reads as zeroes */
};

/* Reads many ranges in few system calls. */
void rcore_live_read_batch(struct rcore_live_memory *memory, struct rcore_live_range *ranges,
			   size_t count);

#endif
