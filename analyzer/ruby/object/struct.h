/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_STRUCT_H
#define RCORE_RUBY_STRUCT_H

#include "ruby/object/value.h"

/*
 * Finds the members of a T_STRUCT (Struct, Data, Range) and their number: in
 * its slot, with the count in the flags (from FL_USER1 on; two bits up to 3.2,
 * seven later), or at as.heap.ptr if these bits are zero. Mirrors
 * internal/struct.h. Error: CORRUPT if it is not a T_STRUCT or has an
 * impossible length.
 */
struct rcore_error *rcore_struct(struct rcore_ruby *ruby, uint64_t value, uint64_t *members,
				 uint64_t *count);

/*
 * Finds the Array of its members' names, Symbols. The class that Struct.new or
 * Data.define created has it in a hidden ivar; classes derived from it do not.
 * Error: CORRUPT if there is none (a Range). Mirrors struct_ivar_get of
 * struct.c.
 */
struct rcore_error *rcore_struct_members(struct rcore_ruby *ruby, uint64_t value,
					 uint64_t *ret);

#endif
