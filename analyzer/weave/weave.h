/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_WEAVE_H
#define RCORE_WEAVE_WEAVE_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Weaves each fiber's native frames and control frames into one stack
 * (fiber->steps).
 *
 * The interpreter runs Ruby-to-Ruby calls in one activation of rb_vm_exec, with
 * no native frame for each; C enters it anew for a block or a method, and the
 * control frame at which it did has FINISH set. A method or block written in C
 * has a control frame and the native frame of its function. From the outermost
 * inwards both stacks so tell the same story in two events:
 *
 *   native                        control frames
 *   main, ruby_run_node ...
 *   rb_vm_exec          A    A    <main>  FINISH
 *   vm_call_cfunc ...             Foo#bar
 *   range_each          C    C    Range#each
 *   rb_yield ...
 *   rb_vm_exec          A    A    block in Foo#bar  FINISH
 *   ...
 *
 * The events are matched, A with A and C with a C of the same function. Where
 * they differ, the nearest place at which they agree again is taken, and only
 * the stretch up to there is marked with a gap.
 *
 * Neither A nor C needs a symbol. C's function is the method entry's, or the
 * block's; the frame may be that of its cold part (image/unwind/cold_part.h).
 * rb_vm_exec, hidden from 3.3 on, is found by its code
 * (image/unwind/activation.h). Only if that does not tell, the stacks are asked
 * which function stands in all of them as often as FINISH does (weave/learn.h).
 * If they do not tell either, no order is invented: control frames and native
 * frames are listed one after the other, with a gap between them.
 *
 * A stop at any instruction may find the innermost event on one side alone:
 *
 * - Frame 0 enters the interpreter, and no activation follows: the frame is
 *   pushed, but not entered yet.
 * - No control frame follows an activation: its frame was popped, by `leave` or
 *   by an exception that ends it (vm_exec_handle_exception), and it is about to
 *   return.
 * - The function of a C method has not been called yet, or a longjmp has left
 *   it.
 *
 * These are not gaps. In all other places the numbers of A are equal.
 */

/*
 * snapshot->activation says which function is rb_vm_exec if that is known;
 * otherwise, and if the stacks tell another, sets it. Fibers without native
 * frames get no steps. An error only if memory is short.
 */
struct rcore_error *rcore_weave(struct rcore_snapshot *snapshot);

#endif
