/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_IVAR_H
#define RCORE_RUBY_IVAR_H

#include "ruby/object/value.h"

/*
 * The instance variables of an object of any type: ivars of a T_OBJECT, of a
 * class or module, and generic ones (T_DATA such as Fiber and Thread, String
 * ...). Where they lie: ruby/object/fields.h. The VM keeps values of its own
 * under names without an `@` (__classpath__, a Thread's "locals").
 */

/*
 * One of them, by its name ("@foo"). *found is false where the object has none
 * of that name; then *ret is untouched. Errors as rcore_fields(); FAULT: the
 * value cannot be read.
 */
struct rcore_error *rcore_ivar_get(struct rcore_ruby *ruby, uint64_t object, const char *name,
				   bool *found, uint64_t *ret);

/*
 * Where the value of one lies, for whoever reads it again and again; 0: the
 * object has none of that name, or its variables are in a st_table.
 */
struct rcore_error *rcore_ivar_place(struct rcore_ruby *ruby, uint64_t object, const char *name,
				     uint64_t *ret);

struct rcore_ivar {
	uint64_t id, value;
};

/* A list on the heap: free(items). */
struct rcore_ivars {
	struct rcore_ivar *items;
	size_t count, capacity;
	bool truncated; /* there are more than the limit */
};

/*
 * All of them, in the order of Object#instance_variables, with those of the
 * VM's own (rcore_ivar_is_visible() tells them apart), at most `limit`. On an
 * error *ret holds those before it. Errors as rcore_fields(), LIMIT (more than
 * can be), NO_MEMORY.
 */
struct rcore_error *rcore_ivars(struct rcore_ruby *ruby, uint64_t object, size_t limit,
				struct rcore_ivars *ret);

/* Is it the ID of an `@name`? Mirrors rb_is_instance_id of symbol.c. */
bool rcore_ivar_is_visible(const struct rcore_ruby *ruby, uint64_t id);

#endif
