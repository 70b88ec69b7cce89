/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_WEAVE_H
#define RCORE_WEAVE_WEAVE_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Weaves each fiber's native frames and control frames into one stack (fiber->steps).
 *
 * The interpreter runs Ruby-to-Ruby calls in one activation of rb_vm_exec, with no native frame
 * for each; C enters it anew for a block or a method, and the control frame at which it did has
 * FINISH set. A method or block written in C has a control frame and the native frame of its function.
 * From the outermost inwards both stacks so tell the same story in two events:
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
 * The events are matched, A with A and C with a C of the same function; where they differ, the
 * nearest place at which they agree again is taken, and only the stretch up to there is marked with
 * a gap. Neither A nor C needs a symbol: C's function is the method entry's, or the block's (the frame may be that of
 * its cold part, image/cold_part.h), and rb_vm_exec, hidden
 * from 3.3 on, is learnt as that function of the interpreter which stands in the stacks as
 * often as FINISH does.
 */

/* `activation` is the address of rb_vm_exec where a symbol tells it, else 0. An error only when memory is
 * short. Fibers without native frames get no steps. */
struct rcore_error *rcore_weave(struct rcore_snapshot *snapshot, uint64_t activation);

#endif
