/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_VALUES_H
#define RCORE_SESSION_PACK_VALUES_H

#include "image/pack_note.h"
#include "model/locals.h"

/*
 * Returns which values of each frame a pack will contain, for its note.
 * `source` is the pack from which it is made, or NULL.
 */
uint64_t rcore_pack_values(const struct rcore_pack_facts *source,
			   const struct rcore_locals_options *values);

/*
 * Switches off the values that the pack does not have. Returns an error that
 * names their options, which becomes a problem of the report, or NULL if the
 * pack has all values.
 */
struct rcore_error *rcore_pack_values_limit(const struct rcore_pack_facts *pack,
					    struct rcore_locals_options *values);

#endif
