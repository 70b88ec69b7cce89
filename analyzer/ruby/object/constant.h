/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CONSTANT_H
#define RCORE_RUBY_CONSTANT_H

#include "ruby/ruby.h"

/*
 * Finds constants by their path. Each class and module has its own in
 * classext.const_tbl, a rb_id_table of rb_const_entry_t. Foo::BAR is looked up
 * in Foo and its ancestors, except Object, which has the constants without a
 * scope. An include class (T_ICLASS) shares the table of its module. A constant
 * for which Ruby will load a file when it is first used (autoload) is Qundef
 * until then. Mirrors rb_const_search of variable.c; also finds private
 * constants. With Ruby::Box (4.0), finds those of the root box.
 */

/*
 * Finds the value of "Foo::BAR"; a leading "::" changes nothing. Errors: USAGE
 * if it does not exist, is not loaded yet, or something before a "::" is not a
 * class or module; FAULT, CORRUPT.
 */
struct rcore_error *rcore_constant(struct rcore_ruby *ruby, const char *path, uint64_t *ret);

/*
 * Calls `visit` with the path of each constant of the scope in `begun`, in the
 * same form: for "Foo::B", all of Foo and its ancestors as "Foo::..."; for "B",
 * those of Object. The name is only valid during the call. A name that a
 * descendant hides occurs twice. Errors: those of rcore_constant(), and what
 * `visit` returns.
 */
typedef struct rcore_error *rcore_constant_visit(void *context, const char *path);
struct rcore_error *rcore_constants(struct rcore_ruby *ruby, const char *begun,
				    rcore_constant_visit *visit, void *context);

#endif
