/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ID_H
#define RCORE_RUBY_ID_H

/*
 * ruby/symbol/ turns IDs and Symbols into their names. Start here.
 */

#include "ruby/object/value.h"

/*
 * An ID is a symbol's number. Up to tLAST_OP_ID it is the character or token of
 * an operator, and its own serial; above, serial = id >> ID_SCOPE_SHIFT.
 * global_symbols.ids holds, in arrays of 512 pairs, the String and the Symbol
 * of each serial, operators too. A dynamic symbol gets a serial when it is
 * first used as an ID. Mirrors symbol.c, get_id_serial_entry.
 */

/*
 * The name of an ID, in the arena; cached. CORRUPT: no such ID (internal IDs
 * have no name); FAULT: the symbol table was not found or cannot be read.
 */
struct rcore_error *rcore_id_name(struct rcore_ruby *ruby, uint64_t id, const char **ret);

/* The String that names an ID. Errors as rcore_id_name(). */
struct rcore_error *rcore_id_string(struct rcore_ruby *ruby, uint64_t id, uint64_t *ret);

/*
 * The String that names a Symbol, static or dynamic (T_SYMBOL); *is_symbol is
 * false for other values.
 */
struct rcore_error *rcore_symbol_string(struct rcore_ruby *ruby, uint64_t value,
					bool *is_symbol, uint64_t *ret);

/* Is that its name? No for an ID without one. Leaves nothing in the arena. */
struct rcore_error *rcore_id_is(struct rcore_ruby *ruby, uint64_t id, const char *expected,
				bool *ret);

/*
 * The String VALUE of a serial in the Array `ids` (rb_symbols_t.ids); nil or 0
 * where there is none.
 */
struct rcore_error *rcore_serial_string(struct rcore_ruby *ruby, uint64_t ids, uint64_t serial,
					uint64_t *ret);

/*
 * Does a rb_symbols_t stand at `address`? Proved by the names of operators and
 * of the first predefined IDs (defs/id.def).
 */
bool rcore_symbols_prove(struct rcore_ruby *ruby, uint64_t address);

/*
 * Searches [start, end) for it, word by word, and sets ruby->global_symbols;
 * false: none. global_symbols is static or hidden in every stripped libruby.
 */
bool rcore_symbols_search(struct rcore_ruby *ruby, uint64_t start, uint64_t end);

#endif
