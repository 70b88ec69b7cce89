/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_DECODE_H
#define RCORE_PROFILE_DECODE_H

#include "profile/recording.h"

/*
 * Adds the contents of a block's payload to the tables. Errors: CORRUPT, LIMIT,
 * NO_MEMORY. After an error, the tables can only be used for the samples of
 * earlier blocks.
 */
struct rcore_error *rcore_block_decode(struct rcore_recording *recording,
				       const unsigned char *payload, size_t size);

#endif
