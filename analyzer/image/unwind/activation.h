/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ACTIVATION_H
#define RCORE_IMAGE_ACTIVATION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which native function runs the interpreter, rb_vm_exec of vm.c. From 3.3 on
 * it is hidden, and a stripped Ruby does not name it. Its code does:
 *
 *   rb_vm_exec        one for each time that C enters the interpreter: sets a
 *                     tag, then calls
 *     vm_exec_core    which runs instructions by jumping from one to the next.
 *
 * The code of an iseq (iseq_encoded) holds for each instruction the address in
 * vm_exec_core to jump to (direct threading, all that CRuby is built with by
 * GCC and Clang). The function that covers these addresses is vm_exec_core. It
 * is static, and its only callers are rb_vm_exec and
 * rb_vm_get_insns_address_table, which jumps there or, unoptimized, calls it
 * with no context. rb_vm_exec has a dozen callers, for C enters the interpreter
 * in as many ways. Where a compiler put vm_exec_core into rb_vm_exec, the
 * function that covers the addresses has these callers itself, and is
 * rb_vm_exec.
 */
struct rcore_interpreter {
	/* Where some instructions of the target's iseqs are run. */
	const uint64_t *instructions;
	size_t count;
	uint64_t activation; /* the start of rb_vm_exec; 0: not known */
	/*
	 * Result: the start of the function that covers the instructions; 0:
	 * not known.
	 */
	uint64_t core;
};

struct rcore_sites;

/* The start of the function that covers the instructions; 0: none does. */
uint64_t rcore_activation_core(struct rcore_sites *sites,
			       const struct rcore_interpreter *interpreter);

/*
 * The start of rb_vm_exec by interpreter->instructions and the code of their
 * module; 0: the code does not tell.
 */
uint64_t rcore_activation_find(struct rcore_sites *sites,
			       const struct rcore_interpreter *interpreter);

#endif
