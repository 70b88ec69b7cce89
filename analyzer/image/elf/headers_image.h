/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_HEADERS_IMAGE_H
#define RCORE_IMAGE_HEADERS_IMAGE_H

#include "image/unwind/call_frames.h"

/*
 * Builds an ELF file that contains only these headers, their build-id and call
 * frame information. libdwfl needs it to find the debug file of a module whose
 * own file is missing, and to unwind through the module. `frames` is empty if
 * there is no such information. The result is malloc'ed; NULL if memory is
 * short.
 */
char *rcore_headers_image(const struct rcore_elf_headers *headers,
			  const struct rcore_call_frames *frames, unsigned machine,
			  size_t *size);

#endif
