/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_HEADERS_IMAGE_H
#define RCORE_IMAGE_HEADERS_IMAGE_H

#include "image/unwind/call_frames.h"

/*
 * A file of nothing but these headers, their build-id and call frame
 * information: what libdwfl needs to find the debug file of a module whose own
 * file is not here, and to unwind through it. Without information `frames` is
 * empty. malloc'ed; NULL: memory is short.
 */
char *rcore_headers_image(const struct rcore_elf_headers *headers,
			  const struct rcore_call_frames *frames, unsigned machine,
			  size_t *size);

#endif
