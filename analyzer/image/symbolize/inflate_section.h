/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_INFLATE_SECTION_H
#define RCORE_IMAGE_SYMBOLIZE_INFLATE_SECTION_H

#include <gelf.h>

/*
 * Inflates a section that zlib compressed, with libdeflate, which takes less
 * than half of libdw's time. If the section is damaged or memory is short, it
 * stays as it is, and libdw decides. Built without libdeflate, does nothing.
 *
 * Only in a helper (base/helper.h): libelf does not free the memory.
 */
void rcore_inflate_section(Elf *elf, Elf_Scn *section);

#endif
