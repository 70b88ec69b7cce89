/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_IVAR_H
#define RCORE_RUBY_IVAR_H

#include "ruby/object/value.h"

/*
 * Reads the instance variables of an object of any type: those of a T_OBJECT,
 * of a class or module, and generic ones (String, T_DATA such as Fiber and
 * Thread). See ruby/object/fields.h for where they are. The VM keeps values of
 * its own under names without an `@` (__classpath__, a Thread's "locals").
 */

/*
 * Reads the variable with this name ("@foo"). If the object has none, *found is
 * false and *ret does not change. Errors: those of rcore_fields(); FAULT if the
 * value cannot be read.
 */
struct rcore_error *rcore_ivar_get(struct rcore_ruby *ruby, uint64_t object, const char *name,
				   bool *found, uint64_t *ret);

/*
 * Does the same for optional information: returns false if there is none, or if
 * it cannot be read. `name` may be NULL: none.
 */
bool rcore_ivar_try(struct rcore_ruby *ruby, uint64_t object, const char *name, uint64_t *ret);

/*
 * Where the value of one lies, for whoever reads it again and again; 0: the
 * object has none of that name, or its variables are in a st_table.
 */
struct rcore_error *rcore_ivar_place(struct rcore_ruby *ruby, uint64_t object, const char *name,
				     uint64_t *ret);

struct rcore_ivar {
	uint64_t id, value;
};

/* A malloc'ed list; call free(items). */
struct rcore_ivars {
	struct rcore_ivar *items;
	size_t count, capacity;
	bool truncated; /* there are more than the limit */
};

/*
 * Reads all of them, at most `limit`, in the order of
 * Object#instance_variables, including those of the VM (rcore_ivar_is_visible()
 * distinguishes them). On an error, *ret has those before it. Errors: those of
 * rcore_fields(), LIMIT (more than possible), NO_MEMORY.
 */
struct rcore_error *rcore_ivars(struct rcore_ruby *ruby, uint64_t object, size_t limit,
				struct rcore_ivars *ret);

/* Whether it is the ID of an `@name`. Mirrors rb_is_instance_id of symbol.c. */
bool rcore_ivar_is_visible(const struct rcore_ruby *ruby, uint64_t id);

#endif
