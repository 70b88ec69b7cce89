/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_GENERIC_IVAR_H
#define RCORE_RUBY_GENERIC_IVAR_H

#include "ruby/ruby.h"

/*
 * Objects without room for instance variables (a String; up to 3.4 also any
 * T_DATA, such as a Fiber or Thread) have them in one st_table of the whole
 * process, with the object as key. The record is a struct gen_ivtbl; from 4.0
 * on, it is an imemo of fields, whose RBasic.klass is the object. A static
 * variable points to the table: generic_iv_tbl (2.6, 2.7), generic_iv_tbl_ (3.0
 * to 3.4), generic_fields_tbl_ (4.0). Mirrors variable.c.
 *
 * If it has no symbol, it is searched for: a pointer to a st_table whose keys
 * are all objects with FL_EXIVAR set (4.0: owners of their records), including
 * `object`. While the process runs, the object may have died. Then a table with
 * several other entries will do.
 */

/*
 * Finds the table's record for `object`. Errors: CORRUPT if it is not in the
 * table; FAULT if the table was not found.
 */
struct rcore_error *rcore_generic_ivar(struct rcore_ruby *ruby, uint64_t object, uint64_t *ret);

#endif
