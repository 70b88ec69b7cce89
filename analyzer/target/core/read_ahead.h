/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_READ_AHEAD_H
#define RCORE_TARGET_READ_AHEAD_H

#include "target/map_file.h"

/*
 * Reads a core into the page cache ahead of the caller, in a thread of its own.
 * Does nothing if the core is there already. Most of a core is holes. The
 * kernel's own readahead is slow for these, because it fills a page with zeroes
 * for each one.
 *
 * The thread reads large ranges of data first, such as the heap. Then it reads
 * the ranges that it is sent, and then the rest. Of a core that is large or has
 * few holes, it reads only what it is sent: the analysis may need no more, and
 * the kernel's readahead works well without holes.
 */
struct rcore_read_ahead;

/*
 * Starts the thread. `fd` is the mapped file; the caller may close it. Its
 * offset moves until rcore_read_ahead_stop() restores it. Returns NULL if the
 * file is in memory or no thread can be started.
 */
struct rcore_read_ahead *rcore_read_ahead_start(int fd, const struct rcore_mapped_file *map);

/*
 * Prepares a file that is going to be read page by page through `fd`: if it has
 * many holes, the kernel must not read ahead, as it would go through all of
 * them. Returns false if it has many holes and so much data that the thread
 * does not read all of it: without the kernel's readahead, that would be slow.
 */
bool rcore_read_ahead_by_page(int fd, const struct rcore_mapped_file *map);

/*
 * Notes that `size` bytes at `offset` will be needed soon. They may be after
 * the end of the file. NULL-safe.
 */
void rcore_read_ahead_note(struct rcore_read_ahead *ahead, uint64_t offset, uint64_t size);

/*
 * Sends the noted ranges to the thread, which reads them in batches. Until
 * the first call, the thread reads no small ranges, as these would delay what
 * the caller needs. NULL-safe.
 */
void rcore_read_ahead_send(struct rcore_read_ahead *ahead);

/* Ends the thread. Call it before the file is unmapped. NULL-safe. */
void rcore_read_ahead_stop(struct rcore_read_ahead *ahead);

#endif
