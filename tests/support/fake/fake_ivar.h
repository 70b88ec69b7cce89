/* SPDX-License-Identifier: MIT */
#ifndef FAKE_IVAR_H
#define FAKE_IVAR_H

#include "fake_ruby.h"

/* Instance variables in fake memory, laid out as the layout's Ruby does. */
struct fake_ivar {
	uint64_t id, value;
};

/*
 * Makes the st_table that CRuby would make of these (st_init_numtable): it has
 * bins if it has more than 16 entries. The first `deleted` entries were deleted
 * again.
 */
uint64_t fake_st_table(struct fake_ruby *ruby, const struct fake_ivar *entries, size_t count,
		       size_t deleted);

/*
 * Makes the tree of shapes, if this Ruby has one, and the variable that leads
 * to it.
 */
void fake_make_shapes(struct fake_ruby *ruby);

/*
 * Returns the ID of a shape with these variables, which it makes if there is
 * none.
 */
uint32_t fake_shape(struct fake_ruby *ruby, const struct fake_ivar *ivars, size_t count);

enum fake_ivar_storage {
	FAKE_IVAR_EMBEDDED, /* in the slot, where an object of that type can */
	FAKE_IVAR_HEAP,
	FAKE_IVAR_TOO_COMPLEX, /* heap, where this Ruby has no such thing */
};

/*
 * Sets the variables of an object, once. A T_OBJECT needs room for them after
 * RBasic. Up to 3.1, it also needs its RBasic.klass, as any object that is not
 * a class does. Call fake_put_generic_ivars() after the last of the others.
 */
void fake_set_ivars(struct fake_ruby *ruby, uint64_t object, enum fake_ivar_storage storage,
		    const struct fake_ivar *ivars, size_t count);

/* Writes the table of generic instance variables and its static variable. */
void fake_put_generic_ivars(struct fake_ruby *ruby);

#endif
