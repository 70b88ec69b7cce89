/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_MEMORY_H
#define RCORE_TARGET_MEMORY_H

/*
 * target/ reads the bytes and facts of a program: core files (core/), running
 * processes (live/) and packs (pack/), each as a struct rcore_memory and a
 * struct rcore_process. output/ writes every file that rcore writes. It
 * includes base/ and model/ only. Start here, then read process.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/memory.h"

/*
 * The only way to the target's bytes. Readers are stacked: a core's segments,
 * an overlay that fills missing pages from ELF files, a cache, a debugger.
 * Everything that decodes Ruby reads a `struct rcore_memory`, so the unit tests
 * run it on fake memory.
 */

/*
 * Returns a short text for people and JSON: "unmapped", "not saved in the
 * core", ...
 */
const char *rcore_fault_text(enum rcore_fault fault);

/*
 * Returns an RCORE_ERROR_FAULT that names `what`, the address, the size and the
 * cause.
 */
struct rcore_error *rcore_fault_error(enum rcore_fault fault, const char *what,
				      uint64_t address, size_t size);

static inline enum rcore_fault rcore_read(struct rcore_memory *memory, uint64_t address,
					  void *buffer, size_t size)
{
	return memory->read(memory, address, buffer, size);
}

/* Both machines are little-endian like this one, so no byte is ever swapped. */
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

/*
 * Does the same in pieces of RCORE_READ_PIECE. A running process keeps what it
 * reads only up to that size, so that a walk over a heap keeps nothing. What is
 * not kept is read again after the stop, and then the process is stopped a
 * second time. So use this for everything of variable size that is part of one
 * thing: a stack, a table, a String.
 */
enum { RCORE_READ_PIECE = 8 << 10 };
enum rcore_fault rcore_read_large(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size);

/*
 * Reads a C string of at most `limit - 1` bytes into `buffer`, and always
 * terminates it. Reads nothing after the NUL. Truncates longer strings.
 */
enum rcore_fault rcore_read_string(struct rcore_memory *memory, uint64_t address, char *buffer,
				   size_t limit);

#endif
