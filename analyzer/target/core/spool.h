/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SPOOL_H
#define RCORE_TARGET_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "target/map_file.h"

/*
 * Cores that cannot be mapped as they are: compressed ones (systemd stores
 * .zst, .lz4 and .xz), and what comes through a pipe. They are decompressed in
 * one stream into a temporary file without a name, in $TMPDIR or /var/tmp: at
 * the cost of disk space, not of memory; runs of zeroes become holes.
 * (libarchive: one interface to all five formats, in every distribution.)
 */

/*
 * By the first bytes of a file: "zstd", "xz", "lz4", "gzip", "bzip2"; NULL: of
 * none.
 */
const char *rcore_compression_of(const uint8_t *bytes, size_t size);

/*
 * Spools what `fd` gives from its present position on, decompressed where it is
 * compressed. `name` is for messages. What ends early or is damaged within
 * gives what there is up to there, and *ret_cut_off is set. Errors: OS (no
 * space, cannot read), FORMAT (nothing could be decompressed), LIMIT.
 */
struct rcore_error *rcore_spool(int fd, const char *name, struct rcore_mapped_file *ret,
				bool *ret_cut_off);

#endif
