/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_RECORDS_H
#define RCORE_IMAGE_UNWIND_RECORDS_H

#include "image/unwind/unwind_walk.h"

/*
 * Unwinds a frame of code that ZJIT made (4.0 on). It has no call frame
 * information, but keeps a frame pointer: frame_setup() of
 * zjit/src/backend/lir.rs. Each compiled method has a frame of its own, and
 * calls the next one. The outermost is that of the trampoline by which C enters
 * them all (gen_entry_trampoline() of zjit/src/codegen.rs), which also saves
 * three registers:
 *
 *	return address    in vm_exec_core(), or in rb_vm_exec()
 *	rbp               of C  <- rbp of the trampoline
 *	r13, rbx, r12     of C; the code keeps cfp, sp and EC there
 *	return address    in the trampoline
 *	rbp               <- rbp of a method
 *	...
 *
 * This chain shows that the code is ZJIT's: it ends in the trampoline, which
 * calls the address that it is passed. YJIT's code leaves the caller's frame
 * pointer as it is (unwind_compiled.h).
 *
 * Goes from walk->at to walk->start, like rcore_walk_resume(). Returns false if
 * ZJIT did not make the code.
 */
bool rcore_walk_resume_records(struct rcore_walk *walk);

#endif
