/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_FIELDS_H
#define RCORE_RUBY_FIELDS_H

#include "ruby/object/value.h"

/*
 * Where an object keeps its instance variables, and what maps their IDs to
 * indices:
 *
 *                 up to 3.1             3.2 to 3.4         4.0
 * T_OBJECT        in the slot, or an    the same           the same
 *                 array (heap.ivptr)
 * class, module   st_table              array              imemo
 *                 classext.iv_tbl       classext.iv_ptr    classext.fields_obj
 * others          array in the          the same           imemo, of a T_DATA
 *                 generic table                            in the slot; others
 *                                                          in that table
 * index of an ID  iv_index_tbl of       shape in the       shape in the flags
 *                 the class             object's flags     of object or imemo
 *
 * An object that is "too complex" for shapes has a st_table instead of the
 * array. Mirrors rb_ivar_lookup of variable.c.
 */
enum rcore_fields_kind {
	RCORE_FIELDS_NONE,
	RCORE_FIELDS_TABLE,    /* a st_table of ID to VALUE */
	RCORE_FIELDS_BY_SHAPE, /* an array, indices by shape */
	RCORE_FIELDS_BY_INDEX, /* an array, indices by a st_table */
};

struct rcore_fields {
	enum rcore_fields_kind kind;
	uint64_t at;      /* the array or the st_table */
	uint32_t shape;   /* BY_SHAPE */
	uint64_t indices; /* BY_INDEX: iv_index_tbl; 0: none yet */
	uint64_t count;   /* BY_INDEX: elements of the array */
};

/*
 * Errors: FAULT, CORRUPT (an immediate, a freed slot), UNSUPPORTED (an internal
 * object of the VM; a Struct of 4.0), and those of rcore_shape() and
 * rcore_generic_ivar().
 */
struct rcore_error *rcore_fields(struct rcore_ruby *ruby, uint64_t object,
				 struct rcore_fields *ret);

/* Does the same for an imemo of fields itself, from 4.0 on. */
struct rcore_error *rcore_fields_of_imemo(struct rcore_ruby *ruby, uint64_t imemo,
					  struct rcore_fields *ret);

#endif
