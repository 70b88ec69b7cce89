/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASS_IVAR_H
#define RCORE_RUBY_CLASS_IVAR_H

#include "ruby/value.h"

/* Up to 3.2 a class keeps its names, and a singleton class its object, in hidden ivars. */
enum rcore_class_ivar {
	RCORE_CLASSPATH,     /* __classpath__ */
	RCORE_TMP_CLASSPATH, /* __tmp_classpath__ */
	RCORE_ATTACHED,      /* __attached__ */
	RCORE_CLASS_IVAR_COUNT,
};

/*
 * Their values, 0 where the class has none. `ext` is its rb_classext_t, `flags` its
 * RBasic.flags. Up to 3.1 they are in the st_table classext.iv_tbl; in 3.2 in the array
 * classext.iv_ptr, at the index that the class's shape has for them. Mirrors rb_ivar_lookup
 * of variable.c, rb_shape_get_iv_index of shape.c.
 */
struct rcore_error *rcore_class_ivars(struct rcore_ruby *ruby, uint64_t ext, uint64_t flags,
				      uint64_t ret[RCORE_CLASS_IVAR_COUNT]);

#endif
