/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASS_NAME_H
#define RCORE_RUBY_CLASS_NAME_H

#include "ruby/object/value.h"

/*
 * Where a class keeps its name changed three times: up to 3.1 in hidden ivars
 * (__classpath__, __tmp_classpath__, __attached__) of classext.iv_tbl; in 3.2
 * the same IDs through its shape; from 3.3 on in classext.classpath. A T_ICLASS
 * stands for the module in RBasic.klass. Mirrors variable.c rb_mod_name0,
 * class.c.
 */
struct rcore_class_name {
	const char *path; /* NULL: anonymous */
	bool permanent;   /* false: a name under an anonymous class */
	bool is_singleton;
	uint64_t attached; /* of a singleton class; 0 otherwise, or unknown */
	bool is_module;
};

/* Cached. CORRUPT where `klass` is no T_CLASS, T_MODULE or T_ICLASS. */
struct rcore_error *rcore_class_name(struct rcore_ruby *ruby, uint64_t klass,
				     struct rcore_class_name *ret);

/*
 * What Module#name gives, or "#<Class:0x...>" for a nameless one. In the arena.
 * Errors as rcore_class_name(). Mirrors rb_class_path of variable.c.
 */
struct rcore_error *rcore_class_path(struct rcore_ruby *ruby, uint64_t klass, const char **ret);

/*
 * The name of a value's class, as obj.class.name (anonymous: "#<Class:0x...>").
 * CORRUPT: no value, FAULT. In the arena, or constant.
 */
struct rcore_error *rcore_value_class_name(struct rcore_ruby *ruby, uint64_t value,
					   const char **ret);

/*
 * "Foo#bar", "Foo.bar" for a singleton of a class or module, plain "bar" where
 * the owner has no permanent name: rb_gen_method_name of vm_backtrace.c, 3.4.
 * In the arena. An owner that cannot be read gives the plain name and sets
 * *problem (may be NULL) to why.
 */
struct rcore_error *rcore_qualified_name(struct rcore_ruby *ruby, uint64_t owner,
					 const char *name, const char **ret,
					 const char **problem);

#endif
