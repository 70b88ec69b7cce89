/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ID_H
#define RCORE_RUBY_ID_H

/*
 * ruby/symbol/ turns IDs and Symbols into their names. It includes
 * ruby/object/. Start here.
 */

#include "ruby/object/value.h"

/*
 * An ID is a symbol's number. Up to tLAST_OP_ID, it is the character or token
 * of an operator, and its own serial; above, serial = id >> ID_SCOPE_SHIFT.
 * global_symbols.ids has the String and the Symbol of each serial, including
 * operators, in arrays of 512 pairs. A dynamic symbol gets a serial when it is
 * first used as an ID. Mirrors get_id_serial_entry of symbol.c.
 */

/*
 * Returns the name of an ID, in the arena; cached. Errors: CORRUPT if there is
 * no such ID (internal IDs have no name); FAULT if the symbol table was not
 * found or cannot be read.
 */
struct rcore_error *rcore_id_name(struct rcore_ruby *ruby, uint64_t id, const char **ret);

/* Finds the String that names an ID. Errors: those of rcore_id_name(). */
struct rcore_error *rcore_id_string(struct rcore_ruby *ruby, uint64_t id, uint64_t *ret);

/*
 * Finds the String that names a Symbol, static or dynamic (T_SYMBOL);
 * *is_symbol is false for other values.
 */
struct rcore_error *rcore_symbol_string(struct rcore_ruby *ruby, uint64_t value,
					bool *is_symbol, uint64_t *ret);

/*
 * Whether this is the ID's name; false for an ID without one. Leaves nothing in
 * the arena.
 */
struct rcore_error *rcore_id_is(struct rcore_ruby *ruby, uint64_t id, const char *expected,
				bool *ret);

/*
 * Finds the ID of a name; *ret is 0 if no Symbol of that name was ever used as
 * an ID. Reads the whole table. Leaves nothing in the arena. Errors: those of
 * rcore_id_name().
 */
struct rcore_error *rcore_id_find(struct rcore_ruby *ruby, const char *name, uint64_t *ret);

/*
 * Finds the String VALUE of a serial in the Array `ids` (rb_symbols_t.ids); nil
 * or 0 if there is none.
 */
struct rcore_error *rcore_serial_string(struct rcore_ruby *ruby, uint64_t ids, uint64_t serial,
					uint64_t *ret);

/*
 * Whether there is a rb_symbols_t at `address`, judging by the names of
 * operators and of the first predefined IDs (defs/id.def).
 */
bool rcore_symbols_prove(struct rcore_ruby *ruby, uint64_t address);

/*
 * Searches [start, end) for it, word by word, and sets ruby->global_symbols.
 * Returns false if there is none. In every stripped libruby, global_symbols is
 * static or hidden.
 */
bool rcore_symbols_search(struct rcore_ruby *ruby, uint64_t start, uint64_t end);

#endif
