/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_MAP_FILE_H
#define RCORE_TARGET_MAP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The bytes of a file, mapped: nothing is read before it is used. */
struct rcore_mapped_file {
	const uint8_t *bytes; /* NULL: the file is empty */
	uint64_t size;
	mode_t mode; /* of what is there; 0: it cannot be opened */
	/* Which file it is, whatever its path leads to later. */
	dev_t device;
	ino_t file;
};

/*
 * Maps a file. If `writable`, writes go to private pages, never to the file
 * (libelf writes to the headers of compressed sections); such a mapping counts
 * against the memory limits of this process. Returns 0 or errno; EINVAL if
 * `mode` is not that of a regular file, which is then not opened. Writes to
 * `ret` in any case.
 */
int rcore_map_file(const char *path, bool writable, struct rcore_mapped_file *ret);

/*
 * Does the same for the file that is open as `fd`, which may be closed
 * afterwards.
 */
int rcore_map_descriptor(int fd, bool writable, struct rcore_mapped_file *ret);

/*
 * Whether the file is shorter than when it was mapped. Touching the missing
 * part raises SIGBUS, which a library must not catch, because its caller (such
 * as a debugger) may. Kernels before 5.14 do not report this: false.
 */
bool rcore_mapped_file_is_cut(const struct rcore_mapped_file *file);

/*
 * Takes the pages that have been touched out of this process's memory. The file
 * must not be mapped `writable`: what was written to it would be lost.
 */
void rcore_mapped_file_release_pages(const struct rcore_mapped_file *file);

/* also one of all zeroes */
void rcore_unmap_file(struct rcore_mapped_file *file);

#endif
