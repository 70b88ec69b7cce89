/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_MEMORY_H
#define RCORE_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The one way to the target's bytes. Readers stack: a core's segments, an
 * overlay that fills absent pages from ELF files, a cache, a debugger. All that
 * decodes Ruby sees `struct rcore_memory` and nothing else, so it runs on fake
 * memory in the unit tests.
 *
 * Why memory could not be read is part of the answer, and three things must
 * never be mixed up (nor filled with zeroes): no mapping there, a mapping whose
 * page the core does not hold, and a page that only a file that is not here
 * could give.
 */
enum rcore_fault {
	RCORE_FAULT_NONE = 0,
	RCORE_FAULT_UNMAPPED,  /* the process had nothing mapped there */
	RCORE_FAULT_NOT_SAVED, /* mapped, but not in the core (coredump_filter) */
	RCORE_FAULT_FILE_MISSING, /* not in the core, and its file is not on this machine, or is another build */
	RCORE_FAULT_TRUNCATED, /* the core ends before it */
	RCORE_FAULT_NOT_COPIED, /* of a process that runs on: mapped, but not among what was copied while it stood still */
	RCORE_FAULT_NOT_MEASURED, /* the layout does not know where the field is */
	RCORE_FAULT_IO,           /* the reader failed (a debugger, ptrace, a disk) */
};

struct rcore_memory {
	/* All `size` bytes or a fault; `buffer` is undefined after a fault. A
	 * read that would wrap around the address space is UNMAPPED. */
	enum rcore_fault (*read)(struct rcore_memory *memory, uint64_t address, void *buffer,
				 size_t size);
};

/* Short text for people and JSON: "unmapped", "not saved in the core", ... */
const char *rcore_fault_text(enum rcore_fault fault);

/* An RCORE_ERROR_FAULT that names `what`, the address, the size and the cause. */
struct rcore_error *rcore_fault_error(enum rcore_fault fault, const char *what,
				      uint64_t address, size_t size);

static inline enum rcore_fault rcore_read(struct rcore_memory *memory, uint64_t address,
					  void *buffer, size_t size)
{
	return memory->read(memory, address, buffer, size);
}

/* Both machines are little-endian, as is this one: no byte is ever swapped. */
static inline enum rcore_fault rcore_read_u64(struct rcore_memory *memory, uint64_t address,
					      uint64_t *ret)
{
	return rcore_read(memory, address, ret, sizeof(*ret));
}

static inline enum rcore_fault rcore_read_u32(struct rcore_memory *memory, uint64_t address,
					      uint32_t *ret)
{
	return rcore_read(memory, address, ret, sizeof(*ret));
}

/* A C string of at most `limit - 1` bytes into `buffer` (always terminated).
 * Reads no page past the one with the NUL. Longer strings are cut off. */
enum rcore_fault rcore_read_string(struct rcore_memory *memory, uint64_t address, char *buffer,
				   size_t limit);

#endif
