/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_MAP_FILE_H
#define RCORE_TARGET_MAP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A file's bytes, mapped: nothing is read before it is looked at. */
struct rcore_mapped_file {
	const uint8_t *bytes; /* NULL: the file is empty */
	uint64_t size;
	mode_t mode; /* of what is there; 0: nothing that can be opened */
};

/*
 * `writable`: what is written goes to pages of ours, never to the file (libelf
 * writes to the headers of compressed sections); such a mapping counts as
 * memory of this process against its limits. 0, or errno; EINVAL where `mode`
 * is not that of a regular file: such are not opened. `ret` is written in any
 * case.
 */
int rcore_map_file(const char *path, bool writable, struct rcore_mapped_file *ret);

/*
 * Is the file shorter than when it was mapped? To touch what is gone raises
 * SIGBUS, which a library must not catch: its caller may, a debugger does.
 * Kernels before 5.14 do not tell: false.
 */
bool rcore_mapped_file_is_cut(const struct rcore_mapped_file *file);

void rcore_unmap_file(struct rcore_mapped_file *file); /* an all-zero one too */

#endif
