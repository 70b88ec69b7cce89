/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_C_ARGUMENTS_H
#define RCORE_VM_C_ARGUMENTS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * Finds the arguments of a C method that Ruby code called.
 * vm_call_cfunc_with_frame() of vm_insnhelper.c leaves the receiver and the
 * arguments on the VM stack, above the caller's sp and below the environment of
 * the call.
 *
 *   | receiver | argument 1 | ... | argument n | me | block | flags |
 *   ^ caller's sp                                             ^ ep
 *
 * `new` is written in C, too, and passes its own arguments to `initialize`.
 *
 * `frame` is one of the fiber's frames. Sets the address of the first argument
 * and their number. Returns false if they are not known: if other C code called
 * the method (rb_funcall), that code may keep them anywhere.
 */
bool rcore_c_arguments(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
		       const struct rcore_frame *frame, uint64_t *ret, size_t *ret_count);

#endif
