/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WRAPPER_H
#define RCORE_VM_WRAPPER_H

#include "ruby/ruby.h"

/* Does the Thread or Fiber object `value` stand for the struct at `address`? Either leads to the other:
 * RTypedData.data, and th->self or cont.self. An object that is just being made leads nowhere yet, which
 * is no contradiction. */
bool rcore_wraps(struct rcore_ruby *ruby, uint64_t value, uint64_t address);

/* Is it such an object that leads nowhere yet? */
bool rcore_wraps_nothing(struct rcore_ruby *ruby, uint64_t value);

#endif
