/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_RETURN_H
#define RCORE_IMAGE_UNWIND_RETURN_H

#include "image/unwind/unwind_walk.h"

/*
 * Whether an address looks like a return address: it is after a call, in code
 * with call frame information.
 */
bool rcore_walk_is_return(struct rcore_walk *walk, uint64_t address);

/*
 * Whether a function begins there. The initial stack of a coroutine that has
 * not run yet returns to such an address.
 */
bool rcore_walk_is_start(struct rcore_walk *walk, uint64_t address);

/*
 * Returns an address of code without the signature that aarch64 may put into
 * its upper bits.
 */
uint64_t rcore_walk_code_address(struct rcore_unwinder *unwinder, uint64_t address);

/*
 * Reads the code around `pc`: `before` bytes before it, and `after` from it on.
 * If only the page of pc can be read, the rest is zeroes, which match none of
 * the instructions that callers search for.
 */
enum rcore_fault rcore_walk_read_code(const struct rcore_walk *walk, uint64_t pc, size_t before,
				      size_t after, uint8_t *code);

#endif
