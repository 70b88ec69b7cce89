/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WRAPPER_H
#define RCORE_VM_WRAPPER_H

#include "ruby/ruby.h"

/*
 * Whether the Thread or Fiber object `value` belongs to the struct at
 * `address`. Each points to the other: RTypedData.data, and th->self or
 * cont.self. An object that is just being created points nowhere yet, so it may
 * belong to any struct.
 */
bool rcore_wraps(struct rcore_ruby *ruby, uint64_t value, uint64_t address);

/* Whether `value` is an object that points nowhere yet. */
bool rcore_wraps_nothing(struct rcore_ruby *ruby, uint64_t value);

#endif
