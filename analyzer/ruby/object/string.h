/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_STRING_H
#define RCORE_RUBY_STRING_H

#include "ruby/object/value.h"

/* A String's bytes are cut off here (names and paths are far shorter). */
enum { RCORE_STRING_LIMIT = 64 << 10 };

/*
 * The bytes of a T_STRING, NUL-terminated, in the arena. Embedded strings hold
 * their bytes in the slot; others point to them (FL_USER1, RSTRING_NOEMBED),
 * often into libruby's read-only data. `ret_length` (bytes, may be NULL) is the
 * kept length; longer strings are cut at RCORE_STRING_LIMIT. Mirrors
 * include/ruby/internal/core/rstring.h. CORRUPT: no T_STRING, a negative
 * length. FAULT: bytes not readable.
 */
struct rcore_error *rcore_string(struct rcore_ruby *ruby, uint64_t value, const char **ret,
				 size_t *ret_length);

/*
 * The same of what the program made, no name or path of its code: filled where
 * ruby->hides_text.
 */
struct rcore_error *rcore_text(struct rcore_ruby *ruby, uint64_t value, const char **ret,
			       size_t *ret_length);

/*
 * Who reads such contents without these says so, and has them filled where they
 * are to be hidden.
 */
void rcore_text_taken(struct rcore_ruby *ruby, uint64_t address, char *bytes, size_t length);

/*
 * Where the bytes lie and how many there are; they are not read. Errors as
 * above.
 */
struct rcore_error *rcore_string_bytes(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret,
				       uint64_t *ret_length);

enum { RCORE_STRING_IS_LIMIT = 64 };

/*
 * Are these its bytes? 1 to RCORE_STRING_IS_LIMIT of them. Leaves nothing in
 * the arena.
 */
struct rcore_error *rcore_string_is(struct rcore_ruby *ruby, uint64_t value,
				    const char *expected, bool *ret);

#endif
