/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_LEARN_H
#define RCORE_WEAVE_LEARN_H

#include "model/snapshot.h"

/*
 * Does C enter the interpreter at this control frame? FINISH, no dummy, and
 * code that has begun: rb_vm_call_cfunc of vm.c pushes one with no pc for an
 * extension whose Init runs.
 */
bool rcore_enters_interpreter(const struct rcore_frame *frame);

/*
 * false: stacks in which C entered the interpreter are whole, and the function
 * at `activation` stands in none of them.
 */
bool rcore_activation_fits(const struct rcore_snapshot *snapshot, uint64_t activation);

/*
 * The start of the native function that runs the interpreter, where neither a
 * symbol nor code tells it: the function of the interpreter's module that
 * stands in each whole stack as often as C entered the interpreter there. A
 * stack that was entered once or never cannot tell it from the functions that
 * started the stack; one that was entered more often must be there. Functions
 * that always stand next to it, as vm_exec_core does, are as good: the
 * outermost is taken. 0: the stacks do not tell, or memory is short.
 */
uint64_t rcore_learn_activation(const struct rcore_snapshot *snapshot);

#endif
