/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_RETURN_H
#define RCORE_IMAGE_UNWIND_RETURN_H

#include "image/unwind/unwind_walk.h"

/*
 * Does a return address look like one: behind a call, in code with call frame
 * information?
 */
bool rcore_walk_is_return(struct rcore_walk *walk, uint64_t address);

/*
 * Does a function begin there? What is made up for a coroutine that has not run
 * yet returns there.
 */
bool rcore_walk_is_start(struct rcore_walk *walk, uint64_t address);

/*
 * An address of code without the signature that aarch64 may put into its upper
 * bits.
 */
uint64_t rcore_walk_code_address(struct rcore_unwinder *unwinder, uint64_t address);

#endif
