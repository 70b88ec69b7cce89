/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_CALL_FRAMES_H
#define RCORE_IMAGE_CALL_FRAMES_H

#include "image/elf/elf_headers.h"

/* Call frame information (.eh_frame) of a module that has no file. */
struct rcore_call_frames {
	uint8_t *bytes; /* malloc'ed; NULL: none */
	size_t size;
	uint64_t address; /* an address in the file */
};

/*
 * Reads the call frame information of a module in the target's memory, which
 * starts at `bias`. The target may have written anything there, and libdw
 * trusts it: for a register number of 2^32, it allocates 64 GB. So all of it is
 * checked here before libdw sees it. Returns false unless it consists only of
 * what compilers write for code without DWARF expressions, is small, and uses
 * registers that the machine has.
 */
bool rcore_call_frames_read(struct rcore_memory *memory, uint64_t bias,
			    const struct rcore_elf_headers *headers,
			    struct rcore_call_frames *ret);

#endif
