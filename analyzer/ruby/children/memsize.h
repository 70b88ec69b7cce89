/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MEMSIZE_H
#define RCORE_RUBY_MEMSIZE_H

#include "ruby/object/embedded.h"
#include "ruby/object/shape.h"
#include "ruby/object/value.h"

/*
 * Finds how many bytes of C memory ObjectSpace.memsize_of() adds to the slot.
 * Returns false if only C code knows it (the dsize function of a T_DATA that
 * memsize_data.c does not list), or it cannot be read; *ret is then 0, or what
 * is known of it.
 * `copy` has the slot's `size` bytes. Mirrors rb_obj_memsize_of() of gc.c.
 */
bool rcore_memsize(struct rcore_ruby *ruby, uint64_t object, const void *copy, size_t size,
		   uint64_t *ret);

/*
 * Which objects need nothing but their slots, by type. Most objects do, so a
 * caller that looks at many should ask this first.
 */
struct rcore_slot_only {
	struct rcore_embedding types[RCORE_T_MASK + 1];
	/*
	 * The shape of objects that have a table although their flags say that
	 * they are embedded.
	 */
	uint32_t too_complex;
};

struct rcore_slot_only rcore_slot_only(struct rcore_ruby *ruby);

/*
 * Returns true only if rcore_memsize() succeeds with 0 for an object with these
 * flags.
 */
static inline bool rcore_is_slot_only(const struct rcore_slot_only *rules, uint64_t flags)
{
	return rcore_embedding_fits(rules->types[flags & RCORE_T_MASK], flags) &&
	       rcore_shape_id(flags) != rules->too_complex;
}

/*
 * Does the same as rcore_memsize() with `memory` alone, and so without what
 * several threads must not share. Also returns false if that does not suffice,
 * as for a class: then call rcore_memsize().
 */
bool rcore_memsize_simple(const struct rcore_layout *layout, struct rcore_memory *memory,
			  uint64_t object, const void *copy, size_t size, uint64_t *ret);

#endif
