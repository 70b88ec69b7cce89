/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_RUNNING_H
#define RCORE_VM_RUNNING_H

#include "target/memory.h"
#include "target/process.h"

/*
 * What running threads, which are in no system call, may be changing. `process`
 * may be NULL.
 */

/* Whether `address` is in the innermost frames of such a thread. */
bool rcore_is_in_running_frame(struct rcore_memory *memory, const struct rcore_process *process,
			       uint64_t address);

/*
 * Whether such a thread has `value` in a register or in its innermost frames.
 * It may be just creating the object: newobj_init() of gc.c
 * (gc/default/default.c from 3.4 on) writes the flags first. The rest follows
 * later, and the thread may release the VM's lock in between.
 */
bool rcore_is_at_hand(struct rcore_memory *memory, const struct rcore_process *process,
		      uint64_t value);

/* Whether `visit` returns true for any word that such a thread has at hand. */
typedef bool rcore_word_visit(void *context, uint64_t word);
bool rcore_any_at_hand(struct rcore_memory *memory, const struct rcore_process *process,
		       rcore_word_visit *visit, void *context);

#endif
