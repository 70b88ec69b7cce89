/* SPDX-License-Identifier: MIT */
#ifndef FAKE_IVAR_H
#define FAKE_IVAR_H

#include "fake_ruby.h"

/* Instance variables laid out in fake memory, the way that the layout's Ruby has them. */
struct fake_ivar {
	uint64_t id, value;
};

/* A st_table that CRuby would make of these (st_init_numtable): with bins where it has more than 16
 * entries; `deleted` of its first entries were deleted again. */
uint64_t fake_st_table(struct fake_ruby *ruby, const struct fake_ivar *entries, size_t count,
		       size_t deleted);

/* The tree of shapes, where this Ruby has them, and the variable it hangs on. */
void fake_make_shapes(struct fake_ruby *ruby);

/* The ID of a shape with these variables; made where there is none. */
uint32_t fake_shape(struct fake_ruby *ruby, const struct fake_ivar *ivars, size_t count);

enum fake_ivar_storage {
	FAKE_IVAR_EMBEDDED, /* in the slot, where an object of that type can */
	FAKE_IVAR_HEAP,
	FAKE_IVAR_TOO_COMPLEX, /* heap, where this Ruby has no such thing */
};

/*
 * Gives an object its variables, once. A T_OBJECT needs room for them behind RBasic, and, as any
 * object that is no class, up to 3.1 its RBasic.klass. fake_put_generic_ivars() comes after the
 * last of the others.
 */
void fake_set_ivars(struct fake_ruby *ruby, uint64_t object, enum fake_ivar_storage storage,
		    const struct fake_ivar *ivars, size_t count);

/* Writes the table of generic instance variables and its static variable. */
void fake_put_generic_ivars(struct fake_ruby *ruby);

#endif
