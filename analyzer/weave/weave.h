/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_WEAVE_H
#define RCORE_WEAVE_WEAVE_H

#include "base/error.h"
#include "model/snapshot.h"
#include "weave/callers.h"

/*
 * weave/ merges the native frames and the control frames of each fiber into one
 * stack (fiber->steps). It includes base/ and model/, and of ruby/ only the
 * flags of frames. Start here: the rest of this comment explains how it works;
 * rcore_weave() is in weave.c.
 *
 * The interpreter runs Ruby-to-Ruby calls in one activation of rb_vm_exec(),
 * without a native frame for each. C enters it again for a block or a method,
 * and sets FINISH in the control frame at which it does. A method or block
 * written in C has a control frame and the native frame of its function. So
 * both stacks, read from the outermost frame inwards, contain the same two
 * kinds of events:
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
 * The events are matched: A with A, from the outermost one inwards, and between
 * two A, C with a C of the same function. If the numbers of A differ, because a
 * part of a stack is lost, the functions of C tell where: weaving continues at
 * the nearest place where both stacks agree again, and marks only the part up
 * to there with a gap.
 *
 * An extension is loaded in a control frame of its own, and by a native
 * function that every Ruby exports: such a pair is matched like C.
 *
 * A function of C that made a tail call is gone from the native stack. Its
 * control frame then stands after what called it, vm_call_cfunc_with_frame() or
 * another function that was learnt from the pairs of all stacks (callers.h). If
 * none is known, the frame stands outermost in its activation.
 *
 * Neither A nor C needs a symbol. The function of C is the method entry's or
 * the block's; the native frame may be that of its cold part
 * (image/unwind/cold_part.h). The code identifies rb_vm_exec(), which is hidden
 * from 3.3 on (image/unwind/activation.h). If that fails, learn.h looks for a
 * function that occurs in all stacks as often as FINISH does. If that fails
 * too, no order is invented: control frames and native frames are listed one
 * after the other, with a gap between them.
 *
 * If the process was stopped at an arbitrary instruction, the innermost event
 * may be on one side only:
 *
 * - Frame 0 enters the interpreter, and no activation follows: the frame is
 *   pushed, but not entered yet.
 * - No control frame follows an activation: its frame was popped, by `leave` or
 *   by an exception that ends it (vm_exec_handle_exception), and it is about to
 *   return.
 * - The function of a C method has not been called yet, or a longjmp has left
 *   it.
 *
 * These are not gaps. Everywhere else, the numbers of A are equal.
 */

/*
 * snapshot->activation says which function is rb_vm_exec if that is known;
 * otherwise, and if the stacks tell another, sets it. Fibers without native
 * frames get no steps. Where ZJIT's code runs the innermost frame, its pc_stale
 * is set. `callers` has what calls C functions, as far as earlier snapshots of
 * the same program have shown; more is added. NULL: nothing is known. An error
 * only if memory is short.
 */
struct rcore_error *rcore_weave(struct rcore_snapshot *snapshot, struct rcore_callers *callers);

/*
 * Does the order of any fiber's frames depend on snapshot->activation? Ruby
 * that starts loads code and runs none yet.
 */
bool rcore_needs_activation(const struct rcore_snapshot *snapshot);

#endif
