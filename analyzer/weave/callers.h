/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_CALLERS_H
#define RCORE_WEAVE_CALLERS_H

#include <stdbool.h>

#include "base/address_map.h"
#include "model/snapshot.h"

/*
 * The functions of the interpreter that call C methods and blocks, such as
 * vm_call_cfunc_with_frame() and vm_yield_with_cfunc(). They have no exported
 * symbols, but stand just outside each C function that is on a stack. If a C
 * function is not on the stack, because it made a tail call or has not been
 * called yet, they show where it would stand.
 */
struct rcore_callers {
	/* By kind of control frame: of methods, of blocks. */
	struct rcore_address_map of[2];
	unsigned count;
};

void rcore_callers_deinit(struct rcore_callers *callers);

/*
 * Returns the index of the native frame that called the one at `native`, after
 * those that are inlined into it; fiber->native_count: there is none.
 */
size_t rcore_caller_of(const struct rcore_fiber *fiber, size_t native);

/*
 * Adds the function of `native`, which called that of the C method or block
 * `frame`. Ignores it if it is not of the interpreter (an extension's call
 * needs no control frame), or is rb_vm_exec at `activation`, into which a
 * compiler may inline what calls C: then it does not tell a place; or if there
 * are too many already, as CRuby has not. Returns false if memory is short.
 */
bool rcore_callers_add(struct rcore_callers *callers, const struct rcore_native_frame *native,
		       const struct rcore_frame *frame, uint64_t activation);

/*
 * Whether a native frame calls C functions of the kind of `frame`; if that is
 * NULL, of any kind.
 */
bool rcore_is_caller(const struct rcore_callers *callers,
		     const struct rcore_native_frame *native, const struct rcore_frame *frame);

#endif
