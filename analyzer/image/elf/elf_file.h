/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ELF_FILE_H
#define RCORE_IMAGE_ELF_FILE_H

#include "base/error.h"
#include "image/elf/elf_headers.h"
#include "target/map_file.h"

/* A program or a library on this machine. Opening looks at its headers and its
 * build-id, no further. */
struct rcore_elf {
	struct rcore_mapped_file map;
	Elf *elf;
	struct rcore_elf_headers headers;
};

/*
 * Errors: OS (missing, not readable), FORMAT (not an ELF program or library of
 * this machine, or only the debug information of one: a file for debuggers,
 * whose code and data were left out).
 */
struct rcore_error *rcore_elf_open(const char *path, unsigned machine, struct rcore_elf **ret);
void rcore_elf_close(struct rcore_elf *elf); /* NULL-safe */

/* How long the file was when it was whole, by its headers; 0: it is. */
uint64_t rcore_elf_cut_off(const struct rcore_elf *elf);

/* `size` bytes of the file at `offset`, or NULL when they are not all in it. */
const uint8_t *rcore_elf_bytes(const struct rcore_elf *elf, uint64_t offset, uint64_t size);

#endif
