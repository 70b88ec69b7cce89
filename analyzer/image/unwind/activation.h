/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ACTIVATION_H
#define RCORE_IMAGE_ACTIVATION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Finds the native function that runs the interpreter, rb_vm_exec() of vm.c.
 * From 3.3 on it is hidden, and a stripped Ruby does not name it. Its code
 * shows it:
 *
 *   rb_vm_exec        one for each time that C enters the interpreter: sets a
 *                     tag, then calls
 *     vm_exec_core    which runs instructions by jumping from one to the next.
 *
 * For each instruction, the code of an iseq (iseq_encoded) has the address in
 * vm_exec_core to jump to. (This is direct threading, which CRuby always uses
 * with GCC and Clang.) The function that contains these addresses is
 * vm_exec_core. It is static, and its only callers are rb_vm_exec and
 * rb_vm_get_insns_address_table, which jumps there or, unoptimized, calls it
 * without a context. rb_vm_exec has a dozen callers, because C enters the
 * interpreter in that many ways. If a compiler inlined vm_exec_core into
 * rb_vm_exec, the function that contains the addresses has these callers
 * itself, and is rb_vm_exec.
 */
struct rcore_interpreter {
	/* Addresses at which some instructions of the target's iseqs run. */
	const uint64_t *instructions;
	size_t count;
	uint64_t activation; /* the start of rb_vm_exec, or 0 */
	/* Start of the function that contains the instructions, or 0. */
	uint64_t core;
};

struct rcore_sites;

/* The start of the function that covers the instructions; 0: none does. */
uint64_t rcore_activation_core(struct rcore_sites *sites,
			       const struct rcore_interpreter *interpreter);

/*
 * Returns the start of rb_vm_exec, found by interpreter->instructions and the
 * code of their module; 0 if the code does not show it.
 */
uint64_t rcore_activation_find(struct rcore_sites *sites,
			       const struct rcore_interpreter *interpreter);

#endif
