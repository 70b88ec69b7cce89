/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_STRUCT_H
#define RCORE_RUBY_STRUCT_H

#include "ruby/object/value.h"

/*
 * Where the members of a T_STRUCT (Struct, Data, Range) lie, and how many there
 * are: in its slot, with the count in the flags (FL_USER1 on; two bits up to
 * 3.2, seven later), or at as.heap.ptr where these bits are clear. Mirrors
 * internal/struct.h. CORRUPT: no T_STRUCT, a length that cannot be.
 */
struct rcore_error *rcore_struct(struct rcore_ruby *ruby, uint64_t value, uint64_t *members,
				 uint64_t *count);

/*
 * The Array of its members' names, Symbols: the class that Struct.new or
 * Data.define made keeps it in a hidden ivar, classes derived of it have none.
 * CORRUPT: there is none (a Range). Mirrors struct_ivar_get of struct.c.
 */
struct rcore_error *rcore_struct_members(struct rcore_ruby *ruby, uint64_t value,
					 uint64_t *ret);

#endif
