/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ARRAY_H
#define RCORE_RUBY_ARRAY_H

#include "ruby/object/value.h"

/*
 * Finds the elements of a T_ARRAY: in its slot (FL_USER1, RARRAY_EMBED_FLAG,
 * with the length in the flags) or at as.heap.ptr. Does not read them. Mirrors
 * include/ruby/internal/core/rarray.h. Error: CORRUPT if it is not a T_ARRAY or
 * has an impossible length.
 */
struct rcore_error *rcore_array(struct rcore_ruby *ruby, uint64_t value, uint64_t *elements,
				uint64_t *length);

/* Reads the element at `index`. Error: LIMIT past the end. */
struct rcore_error *rcore_array_at(struct rcore_ruby *ruby, uint64_t value, uint64_t index,
				   uint64_t *ret);

#endif
