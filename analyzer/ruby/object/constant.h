/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CONSTANT_H
#define RCORE_RUBY_CONSTANT_H

#include "ruby/ruby.h"

/*
 * Constants by their path. Each class and module has its own in
 * classext.const_tbl, a rb_id_table of rb_const_entry_t; Foo::BAR is looked for
 * in Foo and its ancestors, but not in Object, whose own are those without a
 * scope. An include class (T_ICLASS) shares the table of its module. A constant
 * that Ruby is to load a file for when it is first asked for (autoload) has the
 * value Qundef until then. Mirrors rb_const_search of variable.c, private
 * constants too; of Ruby::Box (4.0) the constants of the root box.
 */

/*
 * The value of "Foo::BAR"; "::" in front changes nothing. USAGE: there is none,
 * it is not loaded yet, or what stands before "::" is no class or module;
 * FAULT, CORRUPT.
 */
struct rcore_error *rcore_constant(struct rcore_ruby *ruby, const char *path, uint64_t *ret);

/*
 * Calls `visit` with the path of each constant of the scope that `begun` names,
 * the way `begun` writes it: of "Foo::B" all of Foo and its ancestors as
 * "Foo::...", of "B" those of Object. The name is gone after the call; one that
 * a descendant hides comes again. Errors as rcore_constant(), and what `visit`
 * gives.
 */
typedef struct rcore_error *rcore_constant_visit(void *context, const char *path);
struct rcore_error *rcore_constants(struct rcore_ruby *ruby, const char *begun,
				    rcore_constant_visit *visit, void *context);

#endif
