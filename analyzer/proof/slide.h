/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_SLIDE_H
#define RCORE_PROOF_SLIDE_H

#include "model/snapshot.h"
#include "proof/specimens.h"

/* How far a patch release, or an unusual build, may have moved a struct's fields. Members that were
 * inserted so far moved them by 8 or 16. */
enum { RCORE_SLIDE_LIMIT = 64 /* bytes */ };

/*
 * Fits a layout that does not hold: in each struct some of whose fields fail their proof, tries to
 * move all fields from one on by up to RCORE_SLIDE_LIMIT bytes either way, and takes the shortest way
 * after which none fails and more hold than before; where that can be told at more than one field,
 * the first after the last that is known to stand. A struct that fits nowhere stays as it is. Changes `layout`
 * (ruby->layout), and fills `ret[]` (strings static). Gives how many structs were moved.
 */
size_t rcore_slide(struct rcore_ruby *ruby, const struct rcore_process *process, uint64_t vm,
		   struct rcore_layout *layout, struct rcore_slide ret[RCORE_SLIDE_COUNT]);

/* The same of rb_objspace alone. Its members depend on how the garbage collector was built
 * (MALLOC_ALLOCATED_SIZE), and from 3.4 on that is a library of its own: the rest of the layout holds. */
bool rcore_slide_objspace(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout, struct rcore_slide *ret);

/* How many fields of these structs fail their proof: those of a layout that rcore_slide() could not fit, or
 * of another target than it was fitted to. */
size_t rcore_slide_misfits(struct rcore_ruby *ruby, const struct rcore_process *process,
			   uint64_t vm, struct rcore_layout *layout);

#endif
