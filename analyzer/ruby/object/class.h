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
 * Finds a class's rb_classext_t; 0 while it is being allocated (up to 3.1).
 * Error: FAULT.
 */
struct rcore_error *rcore_classext(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

/*
 * Goes from RBasic.klass of an object to what Object#class returns: skips
 * singleton and include classes. Mirrors rb_class_real of object.c. Errors:
 * FAULT, CORRUPT (not a class), LIMIT (a cycle).
 */
struct rcore_error *rcore_real_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

#endif
