/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MEMBER_H
#define RCORE_RUBY_MEMBER_H

#include "ruby/ruby.h"

/*
 * Finds a part of an object by its name as people write it: "@state", "state"
 * of a Struct, "[3]" of an Array, "state" of a Hash whose key is :state or
 * "state". *found is false if there is none. Errors: those of the object's
 * type.
 */
struct rcore_error *rcore_member(struct rcore_ruby *ruby, uint64_t object, const char *name,
				 bool *found, uint64_t *ret);

#endif
