/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_READ_AHEAD_H
#define RCORE_TARGET_READ_AHEAD_H

#include "target/map_file.h"

/*
 * Advises the kernel how a core will be read. Most of a core are holes, which
 * the kernel would otherwise read ahead, too: it fills a page with zeroes for
 * each. Turns that off, and lets the data be read in the background unless it
 * is in memory. `fd` is the file that is mapped; its offset stays. Does nothing
 * for a file with few holes.
 */
void rcore_core_read_ahead(int fd, const struct rcore_mapped_file *map);

#endif
