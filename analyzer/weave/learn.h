/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_LEARN_H
#define RCORE_WEAVE_LEARN_H

#include "model/snapshot.h"

/* Does C enter the interpreter at this control frame? FINISH, no dummy, and code that has begun:
 * rb_vm_call_cfunc of vm.c pushes one with no pc for an extension whose Init runs. */
bool rcore_enters_interpreter(const struct rcore_frame *frame);

/*
 * The start of the native function that runs the interpreter: among the functions of the
 * interpreter's module the one whose number of frames equals the number of entered control frames in
 * most stacks (one more or less costs little: the innermost may be pushed just before it is
 * entered). Of equals, the outermost. 0: none is plausible, or memory is short.
 */
uint64_t rcore_learn_activation(const struct rcore_snapshot *snapshot);

#endif
