/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_SIZED_H
#define RCORE_BASE_SIZED_H

#include <stddef.h>

#include "base/error.h"

/*
 * Structs that the caller of librcore allocates and whose first member, `size_t
 * size`, says how much of them the caller knows: the rule is in rcore.h,
 * "Options".
 *
 * rcore_sized_copy(to, from) copies such a struct into `to`, which is zeroed
 * and of this librcore's size. If `from` is NULL, only sets to->size. Error:
 * USAGE if the size is 0, or if the caller sets a member that this librcore
 * does not know.
 */
#define rcore_sized_copy(to, from) rcore_sized_copy_bytes(to, sizeof(*(to)), from)

struct rcore_error *rcore_sized_copy_bytes(void *to, size_t size, const void *from);

#endif
