/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIBER_LINK_H
#define RCORE_VM_FIBER_LINK_H

#include "ruby/ruby.h"

/*
 * Reads which rb_fiber_t the fiber at `address` resumed (fiber->resuming_fiber,
 * which in 3.0 is a Fiber object); *ret is 0 if it resumed no fiber.
 */
enum rcore_fault rcore_fiber_resuming(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret);

#endif
