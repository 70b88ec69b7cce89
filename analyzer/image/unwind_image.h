/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_IMAGE_H
#define RCORE_IMAGE_UNWIND_IMAGE_H

#include "image/elf_headers.h"
#include "target/memory.h"

/*
 * An ELF file made anew from the target's memory, as far as unwinding needs it: the vdso, which has no
 * file, and modules whose file is not here, where the core holds their read-only pages.
 * It has no section headers; code and data that cannot be read are not in its segments.
 */
struct rcore_elf_image {
	char *bytes; /* backs `elf` */
	Elf *elf;    /* the caller ends it before the bytes are freed */
};

/* false: a part that must be there cannot be read, or memory is short. */
bool rcore_elf_image_read(struct rcore_memory *memory, const struct rcore_elf_headers *headers,
			  uint64_t bias, struct rcore_elf_image *ret);

#endif
