/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_COPY_H
#define RCORE_TARGET_LIVE_COPY_H

#include "target/live/live_files.h"
#include "target/live/live_memory.h"

/* At most so many pages are looked at: 1 TiB of 4 KiB each. */
#define RCORE_LIVE_COPY_PAGES (UINT64_C(1) << 28)

/*
 * A copy of all memory that the program may have written: what a core would
 * contain. Reads of whatever the program only maps, such as code, go to the
 * process itself. The copy is in rcore's memory, which is faster to fill than a
 * file while the process is stopped.
 *
 *	find     which pages there are: in the page tables (pagemap), because
 *	         most of what is mapped was never touched
 *	prepare  memory for them, with some room for pages that come later
 *	         -- the process is stopped --
 *	find     again
 *	fill     all of them
 *	finish   what follows pages that cannot be read
 *	         -- the process runs again --
 *	read
 */
struct rcore_live_copy {
	struct {
		struct rcore_live_range *items; /* sorted by start */
		size_t count, capacity;
	} ranges;
	size_t size;        /* of all ranges */
	uint64_t looked_at; /* pages; by the last `find` */
	uint8_t *bytes;     /* NULL: not prepared */
	size_t room;        /* how many bytes fit */
	/* Whose pages are zeroes if there are none; set by the last `find`. */
	const struct rcore_live_maps *maps;
};

void rcore_live_copy_deinit(struct rcore_live_copy *copy);

/*
 * `folder` is /proc/PID. Returns 0, ENOMEM, or E2BIG if more than
 * RCORE_LIVE_COPY_PAGES pages are mapped.
 */
int rcore_live_copy_find(struct rcore_live_copy *copy, int folder,
			 const struct rcore_live_maps *maps);

/* Returns false if memory is short. */
bool rcore_live_copy_prepare(struct rcore_live_copy *copy, size_t room);

/*
 * Reads ranges up to `most` bytes. Returns how many were read or skipped, which
 * is less if the process was resumed.
 */
size_t rcore_live_copy_fill(struct rcore_live_copy *copy, struct rcore_live_memory *from,
			    size_t most);

/*
 * What was read of a range ends before the first page that cannot be read.
 * Reads what follows such pages; the copy lacks them. Returns false if memory
 * is short.
 */
bool rcore_live_copy_finish(struct rcore_live_copy *copy, struct rcore_live_memory *from);

/*
 * Returns false, and may have changed `buffer`, if the copy lacks one of these
 * bytes.
 */
bool rcore_live_copy_read(const struct rcore_live_copy *copy, uint64_t address, void *buffer,
			  size_t size);

#endif
