/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_MEMORY_H
#define RCORE_TARGET_LIVE_MEMORY_H

#include "target/live/live_files.h"
#include "target/live/live_stop.h"
#include "target/memory.h"

enum { RCORE_LIVE_PAGE = 4096 }; /* divides the page size of each machine */

/*
 * The bytes of a running process as they are at the moment of the read:
 * process_vm_readv(), or /proc/PID/mem where that call is forbidden
 * (containers). Threads of the target need not be stopped for it.
 */
struct rcore_live_memory {
	struct rcore_memory memory; /* first: the callee casts back */
	int pid, folder;            /* of /proc/PID; not owned */
	int file;                   /* /proc/PID/mem once it was needed; -1 */
	/*
	 * What is read while it does not hold the process any more counts as
	 * not read; NULL: the process need not be held.
	 */
	struct rcore_stop *stop;
	/* Tells a hole from what cannot be read. */
	const struct rcore_live_maps *maps;
	bool is_gone; /* a read found no process */
};

void rcore_live_memory_init(struct rcore_live_memory *memory, int pid, int folder,
			    const struct rcore_live_maps *maps);
void rcore_live_memory_deinit(struct rcore_live_memory *memory);

/* The part of an address space that a batch reads into `bytes`. */
struct rcore_live_range {
	uint64_t start;
	size_t size;
	uint8_t *bytes;
	/*
	 * Result: of `size`, from the start on, up to the first page that
	 * cannot be read.
	 */
	size_t read;
};

/* Reads many ranges in few system calls. */
void rcore_live_read_batch(struct rcore_live_memory *memory, struct rcore_live_range *ranges,
			   size_t count);

#endif
