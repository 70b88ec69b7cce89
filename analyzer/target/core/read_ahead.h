/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_READ_AHEAD_H
#define RCORE_TARGET_READ_AHEAD_H

#include "target/map_file.h"

/*
 * Reads a core that is not in memory ahead, in a thread of its own, so that the
 * caller can use what is there already. Most of a core are holes, which the
 * kernel would otherwise read ahead, too: it fills a page with zeroes for each.
 *
 * At first, the thread reads large ranges of data, such as the heap. Afterwards
 * it reads what it is sent, and then the rest. Of a core that is large or has
 * few holes, it reads only what it is sent: the analysis may need no more, and
 * the kernel reads data without holes ahead well.
 */
struct rcore_read_ahead;

/*
 * `fd` is the file that is mapped; the caller may close it. Its offset moves
 * until rcore_read_ahead_stop(). Returns NULL if nothing is to be read: if the
 * file is in memory, or if there are no threads.
 */
struct rcore_read_ahead *rcore_read_ahead_start(int fd, const struct rcore_mapped_file *map);

/*
 * Notes that `size` bytes at `offset` of the file will be needed soon. They
 * need not be in the file. NULL-safe.
 */
void rcore_read_ahead_note(struct rcore_read_ahead *ahead, uint64_t offset, uint64_t size);

/*
 * Lets everything that was noted be read, in the order in which it will be
 * needed. Until the first call, small ranges are not read: they would delay
 * what the caller looks for. NULL-safe.
 */
void rcore_read_ahead_send(struct rcore_read_ahead *ahead);

/* Call it before the file is unmapped. NULL-safe. */
void rcore_read_ahead_stop(struct rcore_read_ahead *ahead);

#endif
