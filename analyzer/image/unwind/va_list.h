/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_VA_LIST_H
#define RCORE_IMAGE_VA_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/memory.h"

/*
 * The arguments behind the first one of a function with "..." that is still on
 * the stack, from the va_list in its frame (System V ABI for x86-64, 3.5.7):
 * general registers first, then what its caller pushed.
 */
struct rcore_va_list {
	struct rcore_memory *memory;
	uint64_t registers, registers_end; /* where the next of them is saved */
	uint64_t stack;
};

/*
 * Looks for it between `sp` and `cfa`, the stack pointer of the function and
 * the one that its caller had before the call. false: it is not there, or the
 * machine is none that is known here (x86-64 alone).
 */
bool rcore_va_list_find(struct rcore_memory *memory, unsigned machine, uint64_t sp,
			uint64_t cfa, struct rcore_va_list *ret);

/* The next one that is no floating-point number; false: it cannot be read. */
bool rcore_va_list_next(struct rcore_va_list *list, uint64_t *ret);

/*
 * Where the first argument of the call that returns to `pc` points, where the
 * caller loads a constant address: the format of a message. 0: it does not.
 */
uint64_t rcore_constant_argument(struct rcore_memory *memory, unsigned machine, uint64_t pc);

#endif
