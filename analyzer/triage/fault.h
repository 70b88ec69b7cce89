/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_FAULT_H
#define RCORE_TRIAGE_FAULT_H

#include "base/error.h"
#include "model/snapshot.h"
#include "target/process.h"

/*
 * What lies where snapshot->cause.fault is: sets its `place` and `text`, from
 * the map and the fibers' stacks; its access and slot are there already, as far
 * as they are known. Error: NO_MEMORY.
 */
struct rcore_error *rcore_fault_find(const struct rcore_process *process,
				     struct rcore_snapshot *snapshot);

/* "a write to NULL + 0x28", into `buffer`; empty: nothing is known. */
void rcore_fault_describe(const struct rcore_fault_facts *fault, char *buffer, size_t size);

#endif
