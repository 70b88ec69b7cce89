/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CORE_CLASS_H
#define RCORE_RUBY_CORE_CLASS_H

#include "ruby/object/value.h"

/*
 * Classes of the core from which other classes are derived, and that cannot be
 * recognized by their type.
 */
enum rcore_core_class {
	RCORE_CLASS_OTHER,
	RCORE_CLASS_EXCEPTION,
	RCORE_CLASS_SET,
	RCORE_CLASS_STRUCT,
	RCORE_CLASS_DATA,
	RCORE_CLASS_RANGE,
	RCORE_CLASS_FIBER,
};

/*
 * Finds the nearest of them among a class and its ancestors; cached. OTHER if
 * there is none, or the ancestors cannot be read.
 */
struct rcore_error *rcore_core_class(struct rcore_ruby *ruby, uint64_t klass,
				     enum rcore_core_class *ret);

#endif
