/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SPOOL_H
#define RCORE_TARGET_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "target/map_file.h"

/*
 * Reads cores that cannot be mapped: compressed ones (systemd stores .zst, .lz4
 * and .xz), and those that come through a pipe. They are decompressed as a
 * stream into a temporary file without a name, in $TMPDIR or /var/tmp. This
 * takes disk space (at most 90 % of what is free), but no memory; runs of
 * zeroes become holes. (libarchive has one interface to all five formats, and
 * is in every distribution.)
 */

/*
 * Returns the compression by the first bytes of a file: "zstd", "xz", "lz4",
 * "gzip", "bzip2", or NULL.
 */
const char *rcore_compression_of(const uint8_t *bytes, size_t size);

/*
 * Spools the contents of `fd` from its current position on, decompressed if
 * needed. `name` is for messages. If the contents are truncated or damaged,
 * spools what there is, and sets *ret_cut_off. If they do not begin like a
 * core, spools only their beginning, so that a mistake fills no disk. Errors:
 * OS (no space, cannot read), FORMAT (nothing could be decompressed), LIMIT.
 */
struct rcore_error *rcore_spool(int fd, const char *name, struct rcore_mapped_file *ret,
				bool *ret_cut_off);

/*
 * A file that a core is copied to, page by page: those of zeroes become holes.
 */
struct rcore_spool_file {
	int fd;
	uint64_t size;    /* what was added */
	uint64_t written; /* of it, outside of holes */
	uint64_t room;    /* how much may be written */
};

void rcore_spool_file_init(struct rcore_spool_file *file, int fd);

/*
 * Returns false, and sets errno, if it cannot be written; ENOSPC if there is
 * room on the disk, but not for this.
 */
bool rcore_spool_file_add(struct rcore_spool_file *file, const char *bytes, size_t size);

#endif
