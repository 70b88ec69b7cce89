/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ID_H
#define RCORE_RUBY_ID_H

#include "ruby/value.h"

/*
 * An ID is a symbol's number. Up to tLAST_OP_ID it is the character or token of an
 * operator; above, serial = id >> ID_SCOPE_SHIFT, and global_symbols.ids holds, in
 * arrays of 512 pairs, the String and the Symbol of each serial (symbol.c,
 * get_id_serial_entry). A dynamic symbol's ID is the address of its RSymbol.
 */

/* The name of an ID, in the arena; cached. CORRUPT: no such ID; NOT_FOUND has no code of
 * its own: an unknown table gives FAULT. */
struct rcore_error *rcore_id_name(struct rcore_ruby *ruby, uint64_t id, const char **ret);

/* Does a rb_symbols_t stand at `address`? Proved by the first serials after tLAST_OP_ID
 * having String names and by known names (the tokens of defs/id.def: "max", "min", ...). */
bool rcore_symbols_prove(struct rcore_ruby *ruby, uint64_t address);

/* Searches [start, end) for it, word by word, and sets ruby->global_symbols; false: none.
 * global_symbols is static or hidden in every stripped libruby. */
bool rcore_symbols_search(struct rcore_ruby *ruby, uint64_t start, uint64_t end);

#endif
