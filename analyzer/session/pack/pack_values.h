/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_VALUES_H
#define RCORE_SESSION_PACK_VALUES_H

#include "image/pack_note.h"
#include "model/locals.h"

/*
 * Returns what a pack with these values has of each frame, for its note. If it
 * is made from another pack, `source` is that, otherwise NULL.
 */
uint64_t rcore_pack_values(const struct rcore_pack_facts *source,
			   const struct rcore_locals_options *values);

/*
 * Switches off what the pack does not have. Returns an error that names the
 * options, for a problem of the report, or NULL if the pack has all of them.
 */
struct rcore_error *rcore_pack_values_limit(const struct rcore_pack_facts *pack,
					    struct rcore_locals_options *values);

#endif
