/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_SHIFT_H
#define RCORE_PROOF_SHIFT_H

#include "model/snapshot.h"
#include "proof/samples.h"

/*
 * How far a patch release, or an unusual build, may have moved a struct's
 * fields. So far, members that releases inserted moved them by 8 or 16 bytes.
 */
enum { RCORE_SHIFT_LIMIT = 64 /* bytes */ };

/*
 * Makes a layout fit the target. In each struct of which fields fail their
 * check, tries to shift all fields from one on by up to RCORE_SHIFT_LIMIT bytes
 * in either direction. Takes the shortest distance after which none fails and
 * more hold than before. If several fields can be the first, takes the one
 * after the last that is known to be right. A struct that does not fit anywhere
 * stays unchanged. Changes `layout` (ruby->layout), fills `ret` (its strings
 * are static) and returns how many structs were shifted.
 */
size_t rcore_shift_fields(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout,
			  struct rcore_shift ret[RCORE_SHIFT_COUNT]);

/*
 * Does the same for rb_objspace only. Its members depend on how the garbage
 * collector was built (MALLOC_ALLOCATED_SIZE), and from 3.4 on the collector is
 * a library of its own. The rest of the layout is right.
 */
bool rcore_shift_objspace(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout, struct rcore_shift *ret);

/*
 * Counts the fields of these structs that fail their check, in a layout that
 * rcore_shift_fields() could not fit or that was fitted to another target.
 */
size_t rcore_shift_misfits(struct rcore_ruby *ruby, const struct rcore_process *process,
			   uint64_t vm, struct rcore_layout *layout);

#endif
