/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ARRAY_H
#define RCORE_RUBY_ARRAY_H

#include "ruby/object/value.h"

/*
 * Where the elements of a T_ARRAY lie: in its slot (FL_USER1,
 * RARRAY_EMBED_FLAG, with the length in the flags) or where as.heap.ptr says.
 * Mirrors include/ruby/internal/core/rarray.h. CORRUPT: no T_ARRAY, a length
 * that cannot be. The elements are not read.
 */
struct rcore_error *rcore_array(struct rcore_ruby *ruby, uint64_t value, uint64_t *elements,
				uint64_t *length);

/* The element at `index`; LIMIT past the end. */
struct rcore_error *rcore_array_at(struct rcore_ruby *ruby, uint64_t value, uint64_t index,
				   uint64_t *ret);

#endif
