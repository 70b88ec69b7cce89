/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_RUNNING_H
#define RCORE_VM_RUNNING_H

#include "target/memory.h"
#include "target/process.h"

/*
 * What the threads that run, in no system call, may be in the midst of changing.
 * `process` may be NULL.
 */

/* Whether `address` lies in the innermost frames of such a thread. */
bool rcore_is_in_running_frame(struct rcore_memory *memory, const struct rcore_process *process,
			       uint64_t address);

/*
 * Whether such a thread has `value` in a register, or in its innermost frames: it
 * may just be making the object (newobj_init() of gc.c writes the flags first,
 * newobj_fill() the rest, and the VM's lock may be left in between).
 */
bool rcore_is_at_hand(struct rcore_memory *memory, const struct rcore_process *process,
		      uint64_t value);

#endif
