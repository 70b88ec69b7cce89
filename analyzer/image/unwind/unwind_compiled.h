/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_COMPILED_H
#define RCORE_IMAGE_UNWIND_COMPILED_H

#include "image/unwind/unwind_walk.h"

/*
 * Unwinds a frame of code that YJIT compiled. It has no call frame information,
 * but it is entered in only one way: gen_entry_prologue() of
 * yjit/src/codegen.rs (from 3.2 on), yjit_entry_prologue() of yjit_codegen.c
 * (3.1). C calls the code, which saves three registers:
 *
 *	return address    in vm_exec_core(), or in rb_vm_exec()
 *	rbp, rbp          only with --yjit-perf: a frame pointer
 *	r13, r12, rbx     of the caller; the code keeps cfp, EC and sp there
 *	...               what is kept during a call: at most ten words
 *	                  (cpush_all())
 *
 * Ruby methods that call each other jump, and share this frame. r12 shows that
 * the code is YJIT's: it contains the EC of the fiber whose stack this is. On
 * aarch64, the same code keeps a frame record, and needs none of this.
 *
 * Goes from walk->at to walk->start, like rcore_walk_resume(). Returns false if
 * it is not such code.
 */
bool rcore_walk_resume_compiled(struct rcore_walk *walk);

#endif
