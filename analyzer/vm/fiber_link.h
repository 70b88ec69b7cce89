/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIBER_LINK_H
#define RCORE_VM_FIBER_LINK_H

#include "ruby/ruby.h"

/*
 * Reads which rb_fiber_t the fiber at `address` has resumed and waits for:
 * fiber->resuming_fiber of cont.c. The member exists since 3.0. In 3.0, it is a
 * Fiber object; from 3.1 on, a rb_fiber_t. *ret is 0 if it waits for no fiber.
 */
enum rcore_fault rcore_fiber_resuming(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret);

#endif
