/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CONSTANT_H
#define RCORE_RUBY_CONSTANT_H

#include "ruby/ruby.h"

/*
 * Finds constants by their path. Each class and module has its own in
 * classext.const_tbl, a rb_id_table of rb_const_entry_t. Foo::BAR is looked up
 * in Foo and its ancestors, except Object, which has the constants without a
 * scope. An include class (T_ICLASS) shares the table of its module. A constant
 * that Ruby is to load a file for when it is first asked for (autoload) has the
 * value Qundef until then. Mirrors rb_const_search of variable.c, private
 * constants too. With Ruby::Box (4.0) these are the constants of the main box;
 * those of another are constants of its Ruby::Box, as in Ruby.
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
