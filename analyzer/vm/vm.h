/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_VM_H
#define RCORE_VM_VM_H

/*
 * vm/ decodes CRuby's virtual machine. find/ finds the VM, its lists and its
 * fibers; stack/ reads control frames and their values; wait/ finds what each
 * thread and fiber waits for, work/ what it works on. The files here read
 * ractors, threads, fibers and contexts. It includes model/, ruby/, a layout
 * and struct rcore_memory, and sees no ELF file. Start with load.h.
 */

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * The VM from 3.0 on. Before, there are no ractors, and the VM itself has the
 * list of threads:
 *
 *   rb_vm_t ── ractor.set ──> rb_ractor_t ── threads.set ──> rb_thread_t
 *                                                           │     ^
 *                                                        ec │     │ thread_ptr
 *                                                           v     │
 *           rb_fiber_t { cont { saved_ec: rb_execution_context_t } ... }
 *                ^                                              │
 *                └────────────────── fiber_ptr ─────────────────┘
 *
 * Every execution context (EC) is the saved_ec of a fiber; a thread that never
 * created a Fiber object still has a root fiber. An EC has a VM stack. Values
 * grow up from vm_stack, control frames (rb_control_frame_t, CFP) grow down
 * from its end:
 *
 *   | values, environments ->      <- cfp ... frame 1, frame 0, dummy |
 *   vm_stack                                            vm_stack + size
 *
 * ec->cfp is the innermost frame. See vm_core.h, ractor_core.h and cont.c.
 */

/* Limits how much a hostile target can make rcore read. */
enum {
	RCORE_RACTOR_LIMIT = 100000,
	RCORE_THREAD_LIMIT = 1000000,
	RCORE_FIBER_LIMIT = 10000000,
	RCORE_FRAME_LIMIT = 1000000,
	RCORE_PROBLEM_LIMIT = 100,
};

struct rcore_vm {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	uint64_t address; /* rb_vm_t */
};

#endif
