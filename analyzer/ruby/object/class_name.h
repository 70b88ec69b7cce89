/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASS_NAME_H
#define RCORE_RUBY_CLASS_NAME_H

#include "ruby/object/value.h"

/*
 * The place of a class's name changed three times. Up to 3.1, it is in hidden
 * ivars (__classpath__, __tmp_classpath__, __attached__) of classext.iv_tbl; in
 * 3.2, it has the same IDs, but is found through the class's shape; from 3.3
 * on, it is classext.classpath. A T_ICLASS has the module in RBasic.klass.
 * Mirrors rb_mod_name0 of variable.c; class.c.
 */
struct rcore_class_name {
	const char *path; /* NULL: anonymous */
	bool permanent;   /* false: a name below an anonymous class */
	bool is_singleton;
	uint64_t attached; /* of a singleton class; otherwise 0, or unknown */
	bool is_module;
};

/* Cached. Error: CORRUPT if `klass` is not a T_CLASS, T_MODULE or T_ICLASS. */
struct rcore_error *rcore_class_name(struct rcore_ruby *ruby, uint64_t klass,
				     struct rcore_class_name *ret);

/*
 * Returns what Module#name returns, or "#<Class:0x...>" for an anonymous one,
 * in the arena. Errors: those of rcore_class_name(). Mirrors rb_class_path of
 * variable.c.
 */
struct rcore_error *rcore_class_path(struct rcore_ruby *ruby, uint64_t klass, const char **ret);

/*
 * Returns the name of a value's class, like obj.class.name (anonymous:
 * "#<Class:0x...>"), in the arena or constant. Errors: CORRUPT if it is not a
 * value; FAULT.
 */
struct rcore_error *rcore_value_class_name(struct rcore_ruby *ruby, uint64_t value,
					   const char **ret);

/*
 * Returns "Foo#bar"; "Foo.bar" for a singleton of a class or module; "bar" if
 * the owner has no permanent name: rb_gen_method_name of vm_backtrace.c, 3.4.
 * The string is in the arena. If the owner cannot be read, returns the plain
 * name and sets *problem (may be NULL).
 */
struct rcore_error *rcore_qualified_name(struct rcore_ruby *ruby, uint64_t owner,
					 const char *name, const char **ret,
					 const char **problem);

#endif
