/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_ZERO_STACKS_H
#define RCORE_SESSION_ZERO_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/process.h"
#include "target/memory.h"

/*
 * Counts the threads of a core that have only zeroes on their stacks, because
 * the program that wrote the core could not read them. Returns false if memory
 * is short.
 */
bool rcore_zero_stacks(const struct rcore_process *process, struct rcore_memory *memory,
		       size_t *ret);

#endif
