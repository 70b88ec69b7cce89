/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_LEARN_H
#define RCORE_WEAVE_LEARN_H

#include "model/snapshot.h"

/*
 * Whether C enters the interpreter at this control frame: it has FINISH, is not
 * a dummy, and its code has begun. (For an extension whose Init function runs,
 * there is one without a pc: rcore_loads_extension().)
 */
bool rcore_enters_interpreter(const struct rcore_frame *frame);

/*
 * Returns false if some stacks in which C entered the interpreter are complete
 * and none of them contains the function at `activation`.
 */
bool rcore_activation_fits(const struct rcore_snapshot *snapshot, uint64_t activation);

/*
 * Returns the start of the native function that runs the interpreter. Use it if
 * neither a symbol nor code shows that function.
 *
 * It is the function of the interpreter's module that occurs in each complete
 * stack as often as C entered the interpreter there. A stack with one entry or
 * none cannot distinguish it from the functions that started the stack, so it
 * must occur in one with more entries. Functions that always occur next to it,
 * such as vm_exec_core, would do as well; the outermost is chosen. Returns 0 if
 * the stacks do not show it, or memory is short.
 */
uint64_t rcore_learn_activation(const struct rcore_snapshot *snapshot);

#endif
