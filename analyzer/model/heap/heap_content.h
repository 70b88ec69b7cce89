/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_CONTENT_H
#define RCORE_MODEL_HEAP_CONTENT_H

#include <stdint.h>

/* An object and the hash of its contents. */
struct rcore_content {
	uint64_t hash[2]; /* of 128 bits, so that equal means the same */
	uint32_t node;
};

#endif
