/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_VA_LIST_H
#define RCORE_IMAGE_VA_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/memory.h"

/*
 * The variadic arguments of a function that is still on the stack, from the
 * va_list in its frame (System V ABI for x86-64, 3.5.7): first those in general
 * registers, then those that its caller pushed.
 */
struct rcore_va_list {
	struct rcore_memory *memory;
	uint64_t registers, registers_end; /* where the next of them is saved */
	uint64_t stack;
};

/*
 * Searches for it between `sp` and `cfa`, the stack pointer of the function and
 * that of its caller before the call. Returns false if it is not there, or the
 * machine is not supported (only x86-64 is).
 */
bool rcore_va_list_find(struct rcore_memory *memory, unsigned machine, uint64_t sp,
			uint64_t cfa, struct rcore_va_list *ret);

/*
 * Reads the next argument that is not a floating-point number. Returns false if
 * it cannot be read.
 */
bool rcore_va_list_next(struct rcore_va_list *list, uint64_t *ret);

/*
 * Returns the first argument of the call that returns to `pc`: the format of a
 * message. `sp` is the caller's stack pointer. Returns 0 unless the caller
 * loads a constant address, or its own stack has the format or a pointer to it.
 */
uint64_t rcore_first_argument(struct rcore_memory *memory, unsigned machine, uint64_t pc,
			      uint64_t sp, bool *ret_constant);

/*
 * Returns the first argument of a call that libffi made (Fiddle, the gem ffi),
 * or 0 if it did not. `list` is the va_list of the called function, and no
 * argument was read of it; `pc` and `sp` are as above.
 */
uint64_t rcore_first_argument_of_libffi(const struct rcore_va_list *list, uint64_t pc,
					uint64_t sp);

#endif
