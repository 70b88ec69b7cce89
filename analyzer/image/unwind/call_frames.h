/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_CALL_FRAMES_H
#define RCORE_IMAGE_CALL_FRAMES_H

#include "image/elf/elf_headers.h"

/* Call frame information (.eh_frame) of a module that has no file. */
struct rcore_call_frames {
	uint8_t *bytes; /* malloc'ed; NULL: none */
	size_t size;
	uint64_t address; /* as the module's headers count */
};

/*
 * Reads that of a module in the target's memory, all of which starts at `bias`.
 * The target may have written anything there, and libdw takes it at its word: a
 * register number of 2^32 has it allocate 64 GB. So what libdw is to see is
 * read here first, and whole: false unless it consists of what compilers write
 * for code without DWARF expressions, of few bytes, with registers that the
 * machine can have.
 */
bool rcore_call_frames_read(struct rcore_memory *memory, uint64_t bias,
			    const struct rcore_elf_headers *headers,
			    struct rcore_call_frames *ret);

#endif
