/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_FAULT_H
#define RCORE_TRIAGE_FAULT_H

#include "base/error.h"
#include "model/snapshot.h"
#include "target/process.h"

/*
 * Finds what is mapped at the address of snapshot->cause.fault. Sets its
 * `place` and `text`, using the map and the fibers' stacks; its access and slot
 * are set already, if they are known. Error: NO_MEMORY.
 */
struct rcore_error *rcore_fault_find(const struct rcore_process *process,
				     struct rcore_snapshot *snapshot);

/* Writes "a write to NULL + 0x28" into `buffer`; nothing if it is unknown. */
void rcore_fault_describe(const struct rcore_fault_facts *fault, char *buffer, size_t size);

#endif
