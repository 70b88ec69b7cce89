/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ELF_HEADERS_H
#define RCORE_IMAGE_ELF_HEADERS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "target/memory.h"

/* What the headers of an ELF file say, read from a file or from memory. */
struct rcore_elf_headers {
	uint16_t type; /* ET_DYN ... */
	uint64_t entry;
	GElf_Phdr *items;
	size_t count;
	unsigned char build_id[64];
	size_t build_id_size; /* 0: none */
};

enum rcore_elf_outcome {
	RCORE_ELF_READ,
	RCORE_ELF_NONE, /* no 64-bit ELF program or library for the machine */
	RCORE_ELF_UNREADABLE,
	RCORE_ELF_NO_MEMORY, /* rcore has none left */
};

/* Reads the headers of a file. Never returns UNREADABLE. */
enum rcore_elf_outcome rcore_elf_headers_read(Elf *elf, unsigned machine,
					      struct rcore_elf_headers *ret);
void rcore_elf_headers_deinit(struct rcore_elf_headers *headers);

/* Does the same for a module in memory whose ELF header is at `start`. */
enum rcore_elf_outcome rcore_elf_headers_from_memory(struct rcore_memory *memory,
						     uint64_t start, unsigned machine,
						     struct rcore_elf_headers *ret);

/*
 * Computes the run-time address minus the address in the file, for a file with
 * these headers whose `file_offset` is mapped at `start`. Returns false if no
 * segment contains that offset.
 */
bool rcore_elf_headers_bias(const struct rcore_elf_headers *headers, uint64_t start,
			    uint64_t file_offset, uint64_t *ret);

/*
 * The lowest and highest address of the segments in memory, as the file has
 * them.
 */
bool rcore_elf_headers_extent(const struct rcore_elf_headers *headers, uint64_t *low,
			      uint64_t *high);

/* Returns the first program header of this type, or NULL. */
const GElf_Phdr *rcore_elf_headers_find(const struct rcore_elf_headers *headers, uint32_t type);

/*
 * Returns the loadable segment that contains an address of the file, or NULL.
 */
const GElf_Phdr *rcore_elf_headers_load(const struct rcore_elf_headers *headers,
					uint64_t address);

#endif
