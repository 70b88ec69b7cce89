/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASS_H
#define RCORE_RUBY_CLASS_H

#include "ruby/object/value.h"

/* The superclass, an include class (T_ICLASS) maybe; 0: none. */
struct rcore_error *rcore_class_super(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

/* obj.class of an object, not of an immediate. CORRUPT, FAULT. */
struct rcore_error *rcore_value_class(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret);

/*
 * Where a class's rb_classext_t is; 0 while it is being allocated (up to 3.1).
 * FAULT.
 */
struct rcore_error *rcore_classext(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

/*
 * From RBasic.klass of an object to what Object#class gives: past singleton and
 * include classes. Mirrors rb_class_real of object.c. FAULT, CORRUPT (no
 * class), LIMIT (a ring).
 */
struct rcore_error *rcore_real_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret);

#endif
