/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASS_H
#define RCORE_RUBY_CLASS_H

#include "ruby/object/value.h"

/* Finds the superclass, which may be an include class (T_ICLASS), or 0. */
struct rcore_error *rcore_class_super(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

/*
 * Finds obj.class of an object that is not an immediate. Errors: CORRUPT,
 * FAULT.
 */
struct rcore_error *rcore_value_class(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret);

/*
 * Where a class's rb_classext_t is, of boxes (ruby/object/box.h) that of the
 * main box; 0 while it is being allocated (up to 3.1). FAULT, CORRUPT.
 */
struct rcore_error *rcore_classext(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

/*
 * Like rcore_classext(), but ignores boxes. 4.0 on: RCLASS_EXT_PRIME() of
 * internal/class.h. Only this one has the attached_object of a singleton class:
 * rb_class_duplicate_classext() of class.c does not copy it. FAULT.
 */
struct rcore_error *rcore_prime_classext(struct rcore_ruby *ruby, uint64_t klass,
					 uint64_t *ret);

/*
 * 4.0 on: the st_table of Ruby::Boxes that changed a class to their
 * rb_classext_t; 0: none. FAULT.
 */
struct rcore_error *rcore_boxes_of_class(struct rcore_ruby *ruby, uint64_t klass,
					 uint64_t *ret);

/*
 * From RBasic.klass of an object to what Object#class gives: past singleton and
 * include classes. Mirrors rb_class_real of object.c. FAULT, CORRUPT (no
 * class), LIMIT (a ring).
 */
struct rcore_error *rcore_real_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

#endif
