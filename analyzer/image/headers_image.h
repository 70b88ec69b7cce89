/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_HEADERS_IMAGE_H
#define RCORE_IMAGE_HEADERS_IMAGE_H

#include "image/elf_headers.h"

/* A file of nothing but these headers and their build-id: what libdwfl needs to find the
 * debug file of a module whose own file is not here. malloc'ed; NULL: memory is short. */
char *rcore_headers_image(const struct rcore_elf_headers *headers, unsigned machine,
			  size_t *size);

#endif
