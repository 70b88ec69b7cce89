/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_ZERO_STACKS_H
#define RCORE_SESSION_ZERO_STACKS_H

#include <stddef.h>

#include "model/process.h"
#include "target/memory.h"

/*
 * Returns how many threads of a core have only zeroes on their stacks, because
 * the program that wrote the core could not read them.
 */
size_t rcore_zero_stacks(const struct rcore_process *process, struct rcore_memory *memory);

#endif
