/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_COMPILED_H
#define RCORE_IMAGE_UNWIND_COMPILED_H

#include "image/unwind/unwind_walk.h"

/*
 * Unwinds a frame of code that YJIT made. It has no call frame information, but
 * only one way to enter it: gen_entry_prologue() of yjit/src/codegen.rs (3.2
 * on), yjit_entry_prologue() of yjit_codegen.c (3.1). C calls what that makes,
 * and it saves three registers:
 *
 *	return address    in vm_exec_core(), or in rb_vm_exec()
 *	rbp, rbp          only with --yjit-perf: a frame pointer
 *	r13, r12, rbx     of the caller; the code keeps cfp, EC and sp there
 *	...               what is kept during a call: at most ten words
 *	                  (cpush_all())
 *
 * Ruby methods that call each other jump and share this frame. That the code is
 * YJIT's is known from r12: it holds the EC of the fiber whose stack this is.
 * On aarch64 the same code keeps a frame record, and needs none of this.
 *
 * From walk->at to walk->start, as rcore_walk_resume(). false: it is no such
 * code.
 */
bool rcore_walk_resume_compiled(struct rcore_walk *walk);

#endif
