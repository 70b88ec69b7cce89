/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_SHIFT_H
#define RCORE_PROOF_SHIFT_H

#include "model/snapshot.h"
#include "proof/samples.h"

/* How far a patch release, or an unusual build, may have moved a struct's
 * fields. Members that releases inserted so far moved them by 8 or 16. */
enum { RCORE_SHIFT_LIMIT = 64 /* bytes */ };

/*
 * Makes a layout fit that does not hold. In each struct of which fields fail
 * their check, tries to shift all fields from one on by up to RCORE_SHIFT_LIMIT
 * bytes either way, and takes the shortest distance after which none fails and
 * more hold than before. If several fields can be the first, takes the one
 * after the last that is known to stand. A struct that fits nowhere stays as it
 * is. Changes `layout` (ruby->layout), fills `ret` (strings static) and returns
 * how many structs were shifted.
 */
size_t rcore_shift_fields(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout,
			  struct rcore_shift ret[RCORE_SHIFT_COUNT]);

/* The same for rb_objspace alone. Its members depend on how the garbage
 * collector was built (MALLOC_ALLOCATED_SIZE), and from 3.4 on that is a library
 * of its own: the rest of the layout holds. */
bool rcore_shift_objspace(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout, struct rcore_shift *ret);

/* Counts the fields of these structs that fail their check: of a layout that
 * rcore_shift_fields() could not fit, or of another target than it was fitted to. */
size_t rcore_shift_misfits(struct rcore_ruby *ruby, const struct rcore_process *process,
			   uint64_t vm, struct rcore_layout *layout);

#endif
