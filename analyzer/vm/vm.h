/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_VM_H
#define RCORE_VM_VM_H

/*
 * vm/ decodes CRuby's virtual machine: find/ (the VM, its lists, its fibers),
 * stack/ (control frames and what they know), wait/ (what each thread and
 * fiber waits for), and here ractors, threads, fibers and contexts. It sees
 * memory and a layout, never an ELF file. Start with load.h.
 */

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * CRuby's VM as an outside reader sees it (3.0 on; before, the VM itself holds the
 * threads and there are no ractors):
 *
 *   rb_vm_t ── ractor.set ──> rb_ractor_t ── threads.set ──> rb_thread_t ── ec ──┐
 *                                                                 ^               v
 *                              rb_fiber_t { cont { saved_ec: rb_execution_context_t } ... }
 *                                                                 thread_ptr, fiber_ptr
 *
 * Every execution context (EC) is the saved_ec of a fiber: a thread that never made a
 * Fiber object still has a root fiber. An EC has a VM stack: values grow up from
 * vm_stack, control frames (rb_control_frame_t, CFP) down from its end:
 *
 *   vm_stack                                                      vm_stack + size
 *   | values, environments ->          <- cfp ... frame 1, frame 0, dummy |
 *
 * ec->cfp is the innermost frame. Mirrors vm_core.h, ractor_core.h, cont.c.
 */

/* Bounds on what a hostile target can make us walk. */
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
