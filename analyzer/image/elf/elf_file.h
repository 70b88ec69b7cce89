/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ELF_FILE_H
#define RCORE_IMAGE_ELF_FILE_H

#include "base/error.h"
#include "image/elf/elf_headers.h"
#include "target/map_file.h"

/*
 * A program or library on this machine. Opening it reads only its headers and
 * its build-id.
 */
struct rcore_elf {
	struct rcore_mapped_file map;
	Elf *elf;
	struct rcore_elf_headers headers;
};

/*
 * Errors: OS (missing, not readable); FORMAT (not an ELF program or library for
 * this machine, or a debug file without code and data).
 */
struct rcore_error *rcore_elf_open(const char *path, unsigned machine, struct rcore_elf **ret);
void rcore_elf_close(struct rcore_elf *elf); /* NULL-safe */

/*
 * Returns the complete size of a truncated file, according to its headers; 0 if
 * it is complete.
 */
uint64_t rcore_elf_cut_off(const struct rcore_elf *elf);

/* Returns `size` bytes of the file at `offset`, or NULL if some are missing. */
const uint8_t *rcore_elf_bytes(const struct rcore_elf *elf, uint64_t offset, uint64_t size);

#endif
