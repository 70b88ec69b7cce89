/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_COPY_H
#define RCORE_TARGET_LIVE_COPY_H

#include "target/live/live_files.h"
#include "target/live/live_memory.h"

/* The number of pages that find() looks at, at most: 1 TiB of 4 KiB each. */
#define RCORE_LIVE_COPY_PAGES (UINT64_C(1) << 28)

/*
 * A copy of all memory that the program may have written, which is what a core
 * would contain. What the program only maps, such as code, is not copied, but
 * read from the process. The copy is in rcore's own memory, because a file
 * takes longer to fill while the process is stopped. Call in this order:
 *
 *	find     finds the pages that exist, in /proc/PID/pagemap: most of what
 *	         is mapped was never touched
 *	prepare  allocates memory for them, and some for pages that come later
 *	         -- stop the process --
 *	find     finds them again
 *	fill     copies them
 *	finish   copies what follows pages that cannot be read
 *	         -- resume the process --
 *	read     reads the copy
 */
struct rcore_live_copy {
	struct {
		struct rcore_live_range *items; /* sorted by start */
		size_t count, capacity;
	} ranges;
	size_t size;        /* of all ranges, in bytes */
	uint64_t looked_at; /* pages that the last find() looked at */
	uint8_t *bytes;     /* the copy; NULL: not prepared */
	size_t room;        /* size of `bytes` */
	/*
	 * The regions of the last find(). A page of an anonymous one that does
	 * not exist reads as zeroes.
	 */
	const struct rcore_live_maps *maps;
};

/*
 * Returns the number of the frame of the kernel's page of zeroes. 0: rcore may
 * not know it, because only CAP_SYS_ADMIN shows it (proc_pid_pagemap(5)), or
 * this kernel has none.
 */
uint64_t rcore_live_zero_frame(void);

void rcore_live_copy_deinit(struct rcore_live_copy *copy);

/*
 * Sets the ranges and the size. `folder` is /proc/PID; `maps` must outlive the
 * copy. Returns 0, ENOMEM, or E2BIG if more than RCORE_LIVE_COPY_PAGES pages
 * are mapped.
 */
int rcore_live_copy_find(struct rcore_live_copy *copy, int folder,
			 const struct rcore_live_maps *maps);

/* Allocates `room` bytes. Returns false if memory is short. */
bool rcore_live_copy_prepare(struct rcore_live_copy *copy, size_t room);

/*
 * Copies ranges, as long as they fit into `most` bytes. Returns how many bytes
 * these have, whether or not all of their pages can be read. Stops early if the
 * process has ended or runs again.
 */
size_t rcore_live_copy_fill(struct rcore_live_copy *copy, struct rcore_live_memory *from,
			    size_t most);

/*
 * fill() copies each range only up to the first page that cannot be read.
 * Copies what follows; the copy lacks these pages. Returns false if memory is
 * short.
 */
bool rcore_live_copy_finish(struct rcore_live_copy *copy, struct rcore_live_memory *from);

/*
 * Reads `size` bytes at `address` of the process. Returns false if the copy
 * lacks one of them; `buffer` may then be changed.
 */
bool rcore_live_copy_read(const struct rcore_live_copy *copy, uint64_t address, void *buffer,
			  size_t size);

/*
 * Finds the first part at `address` or after it that the copy has, and that is
 * zeroes as a whole or not at all. Returns false if there is none.
 */
bool rcore_live_copy_part(const struct rcore_live_copy *copy, uint64_t address,
			  struct rcore_live_part *ret);

#endif
