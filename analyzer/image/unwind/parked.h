/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PARKED_H
#define RCORE_IMAGE_PARKED_H

#include "image/unwind/unwind.h"

/*
 * Where CRuby's coroutine_transfer() (coroutine/amd64/Context.S,
 * coroutine/arm64/Context.S) saves the address at which to continue. On x86-64,
 * it is the same from 2.7 to 4.0.
 */
enum rcore_coroutine {
	/* Up to 3.2: on aarch64, in a slot of its own. */
	RCORE_COROUTINE_PC_SLOT,
	/*
	 * From 3.3 on: on aarch64, in the slot of x30, signed if the CPU does
	 * that.
	 */
	RCORE_COROUTINE_LINK,
};

/*
 * Reads the registers of a parked fiber from its coroutine_context's
 * stack_pointer: the callee-saved ones, and sp and pc as they are when
 * coroutine_transfer() returns to it. A fiber that was never resumed starts at
 * its entry function; then is_parked is false. The caller sets stack_start and
 * stack_end. Returns false if stack_pointer is 0 (a thread's first fiber that
 * never switched), its stack cannot be read, or the machine is not supported.
 */
bool rcore_parked_registers(struct rcore_memory *memory, unsigned machine,
			    uint64_t stack_pointer, enum rcore_coroutine coroutine,
			    struct rcore_unwind_context *ret);

#endif
