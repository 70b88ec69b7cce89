/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_DECODE_H
#define RCORE_PROFILE_DECODE_H

#include "profile/recording.h"

/*
 * Adds what the payload of a block holds. Error: CORRUPT, LIMIT, NO_MEMORY; the
 * tables are then not to be used any more, but with the samples of earlier
 * blocks.
 */
struct rcore_error *rcore_block_decode(struct rcore_recording *recording,
				       const unsigned char *payload, size_t size);

#endif
