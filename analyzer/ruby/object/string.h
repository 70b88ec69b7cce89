/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_STRING_H
#define RCORE_RUBY_STRING_H

#include "ruby/object/value.h"

/*
 * A String's bytes are truncated after this many; names and paths are much
 * shorter.
 */
enum { RCORE_STRING_LIMIT = 64 << 10 };

/*
 * Reads the bytes of a T_STRING, NUL-terminated, into the arena. Embedded
 * strings have their bytes in the slot; others point to them (FL_USER1,
 * RSTRING_NOEMBED), often in libruby's read-only data. `ret_length` (may be
 * NULL) is the number of bytes returned; longer strings are truncated at
 * RCORE_STRING_LIMIT. Mirrors include/ruby/internal/core/rstring.h. Errors:
 * CORRUPT if it is not a T_STRING or has a negative length; FAULT if the bytes
 * cannot be read.
 */
struct rcore_error *rcore_string(struct rcore_ruby *ruby, uint64_t value, const char **ret,
				 size_t *ret_length);

/*
 * Does the same for a text that the program created, not a name or path of its
 * code. Replaces it by stars if ruby->hides_text is set.
 */
struct rcore_error *rcore_text(struct rcore_ruby *ruby, uint64_t value, const char **ret,
			       size_t *ret_length);

/*
 * Call this after reading such contents without these functions. If they are to
 * be hidden, replaces them by stars.
 */
void rcore_text_taken(struct rcore_ruby *ruby, uint64_t address, char *bytes, size_t length);

/*
 * Finds the address and number of the bytes without reading them. Errors: the
 * same.
 */
struct rcore_error *rcore_string_bytes(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret,
				       uint64_t *ret_length);

enum { RCORE_STRING_IS_LIMIT = 64 };

/*
 * Whether these are its bytes, of which there must be 1 to
 * RCORE_STRING_IS_LIMIT. Leaves nothing in the arena.
 */
struct rcore_error *rcore_string_is(struct rcore_ruby *ruby, uint64_t value,
				    const char *expected, bool *ret);

#endif
