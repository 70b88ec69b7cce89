/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_SHAPE_H
#define RCORE_RUBY_SHAPE_H

#include "ruby/ruby.h"

/*
 * Since 3.2, an object's shape says which instance variable has which index.
 * Shapes form a tree: a child has what its parent has, and usually one more
 * variable, which the edge to it names. They are in one array; the upper half
 * of an object's flags has the index (in 4.0, with some bits that do not belong
 * to it). An object that had too many different variables is "too complex": it
 * has a hash table instead.
 *
 *	list[0] root <── list[7] @a at 0 <── list[9] @b at 1
 *	                                └─── list[8] frozen
 *
 * Mirrors shape.h and shape.c. The array is found through the VM (3.2),
 * rb_shape_tree_ptr (3.3, 3.4) or rb_shape_tree (4.0), which is searched for if
 * no symbol names it.
 */
enum {
	/* SHAPE_FLAG_SHIFT: the lowest bit of the ID in RBasic.flags. */
	RCORE_SHAPE_ID_SHIFT = 32,
	RCORE_SHAPE_COUNT_LIMIT = 1 << 19, /* SHAPE_BUFFER_SIZE */
	/* Indices of fields have 16 or 32 bits. */
	RCORE_SHAPE_DEPTH_LIMIT = 1 << 16,
};

/* INVALID_SHAPE_ID: no object has this shape. */
#define RCORE_NO_SHAPE UINT32_MAX

struct rcore_shape {
	bool is_root;
	/* False: it is for something else (frozen, a capacity, object_id). */
	bool adds_ivar;
	bool is_too_complex;
	uint64_t edge;   /* ID of the variable */
	uint32_t index;  /* of that variable in the object's fields */
	uint32_t parent; /* shape ID; meaningless in a root */
};

/* Returns the shape's ID in an object's flags. */
static inline uint32_t rcore_shape_id(uint64_t flags)
{
	return (uint32_t)(flags >> RCORE_SHAPE_ID_SHIFT);
}

/* Returns the address of the array, after a search if needed; 0: not found. */
uint64_t rcore_shape_list(struct rcore_ruby *ruby);

/*
 * Returns the id of the shape that all too complex objects share
 * (OBJ_TOO_COMPLEX_SHAPE_ID of shape.h, 3.2 to 3.4). The id depends on how Ruby
 * was built, so this searches the array for the shape. Returns RCORE_NO_SHAPE
 * if there is no such shape, or it was not found.
 */
uint32_t rcore_shape_of_too_complex(struct rcore_ruby *ruby);

/*
 * Reads shape `id`. Errors: FAULT if the array was not found or cannot be read;
 * CORRUPT if there is no such shape, or it is invalid; UNSUPPORTED if the
 * layout has no shapes.
 */
struct rcore_error *rcore_shape(struct rcore_ruby *ruby, uint32_t id, struct rcore_shape *ret);

#endif
