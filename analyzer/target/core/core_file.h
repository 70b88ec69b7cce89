/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_FILE_H
#define RCORE_TARGET_CORE_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "target/map_file.h"

/*
 * The bytes of a core file, which is known to be a 64-bit little-endian ELF
 * core of a supported machine. The file is mapped read-only, so only what is
 * used is read from the disk. Most memory of the process is read with pread()
 * instead, see `pages`.
 */
struct rcore_core_file {
	struct rcore_mapped_file map;
	struct rcore_read_ahead *ahead; /* NULL: nothing is read ahead */
	struct rcore_core_pages *pages; /* NULL: read `map` */
	const uint8_t *bytes;           /* of `map` */
	uint64_t size;
	/* Without sections: a core has none that matter. */
	Elf *elf;
	/* May be misaligned: use rcore_core_file_header(). */
	const Elf64_Phdr *program_headers;
	size_t program_header_count; /* all of them within `size` */
	/* It was compressed, and the stream is truncated or damaged. */
	bool is_cut_off;
};

Elf64_Phdr rcore_core_file_header(const struct rcore_core_file *file, size_t index);

/* "-" is standard input. Errors: those of rcore_core_open(). */
struct rcore_error *rcore_core_file_open(const char *path, struct rcore_core_file *ret);
/* The file may be all zeroes. */
void rcore_core_file_close(struct rcore_core_file *file);

#endif
