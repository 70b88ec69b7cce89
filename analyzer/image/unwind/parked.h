/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PARKED_H
#define RCORE_IMAGE_PARKED_H

#include "image/unwind/unwind.h"

/*
 * Where CRuby's coroutine_transfer() (coroutine/amd64/Context.S,
 * coroutine/arm64/Context.S) leaves the address to go on at; the same on x86-64
 * from 2.7 to 4.0.
 */
enum rcore_coroutine {
	/* Up to 3.2: on aarch64 in a slot of its own. */
	RCORE_COROUTINE_PC_SLOT,
	/* From 3.3: on aarch64 that of x30, signed where the CPU does. */
	RCORE_COROUTINE_LINK,
};

/*
 * The registers of a fiber that is not running, from its coroutine_context's
 * stack_pointer: the callee-saved ones, sp and pc as they are when
 * coroutine_transfer() returns to it. A fiber that was never resumed starts at
 * its entry function; is_parked is then false. stack_start and stack_end are
 * left 0 for the caller to fill. false: stack_pointer is 0 (the fiber that a
 * thread began with, not left yet), its stack cannot be read, or the machine is
 * not covered.
 */
bool rcore_parked_registers(struct rcore_memory *memory, unsigned machine,
			    uint64_t stack_pointer, enum rcore_coroutine coroutine,
			    struct rcore_unwind_context *ret);

#endif
