/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_LOCALS_SAME_H
#define RCORE_MODEL_LOCALS_SAME_H

#include "model/locals.h"

/*
 * Whether two frames know the same; true for two of which nothing was asked
 * (NULL).
 */
bool rcore_frame_values_same(const struct rcore_frame_values *a,
			     const struct rcore_frame_values *b);

#endif
