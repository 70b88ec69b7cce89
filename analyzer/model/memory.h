/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_MEMORY_H
#define RCORE_MODEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Why memory of the target could not be read. librcore reports the reason and
 * never replaces what is missing with zeroes.
 */
enum rcore_fault {
	RCORE_FAULT_NONE = 0,
	RCORE_FAULT_UNMAPPED, /* the process had nothing mapped there */
	/* Mapped, but not in the core (coredump_filter). */
	RCORE_FAULT_NOT_SAVED,
	/* Only in a file that is missing, or of another build. */
	RCORE_FAULT_FILE_MISSING,
	RCORE_FAULT_TRUNCATED, /* the core ends before it */
	/* Not copied while a running process was stopped. */
	RCORE_FAULT_NOT_COPIED,
	/* The layout does not know where the field is. */
	RCORE_FAULT_NOT_MEASURED,
	/* The reader failed: a debugger, ptrace, a disk. */
	RCORE_FAULT_IO,
};

/*
 * Reads the target. To implement it, embed it as the first member of a struct
 * of your own and cast `memory` back. This struct never grows.
 */
struct rcore_memory {
	/*
	 * Reads all `size` bytes at `address` into `buffer` and returns
	 * RCORE_FAULT_NONE. Otherwise returns a fault; `buffer` is then
	 * undefined. A read past the end of the address space is UNMAPPED.
	 */
	enum rcore_fault (*read)(struct rcore_memory *memory, uint64_t address, void *buffer,
				 size_t size);
};

#endif
