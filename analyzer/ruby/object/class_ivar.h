/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASS_IVAR_H
#define RCORE_RUBY_CLASS_IVAR_H

#include "ruby/object/value.h"

/*
 * Up to 3.2 a class keeps its names, and a singleton class its object, in
 * hidden ivars.
 */
enum rcore_class_ivar {
	RCORE_CLASSPATH,     /* __classpath__ */
	RCORE_TMP_CLASSPATH, /* __tmp_classpath__ */
	RCORE_ATTACHED,      /* __attached__ */
	RCORE_CLASS_IVAR_COUNT,
};

/*
 * Their values, 0 where the class has none. Mirrors rb_class_path_cached,
 * rb_ivar_lookup of variable.c. Errors as rcore_ivars().
 */
struct rcore_error *rcore_class_ivars(struct rcore_ruby *ruby, uint64_t klass,
				      uint64_t ret[RCORE_CLASS_IVAR_COUNT]);

#endif
