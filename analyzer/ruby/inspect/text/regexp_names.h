/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_TEXT_REGEXP_NAMES_H
#define RCORE_RUBY_INSPECT_TEXT_REGEXP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * ruby/inspect/text/ prints Strings, Symbols and what belongs to regular
 * expressions, and knows encodings. Start with inspect_string.c.
 */

/*
 * Finds the name of a regular expression's group in its source. In a pattern
 * with named groups, only these are numbered, from left to right (doc/RE of
 * Onigmo). Returns the number-th name, from 1, and its length; false if there
 * is none.
 */
bool rcore_regexp_name(const char *source, size_t length, int number, const char **ret,
		       size_t *ret_length);

#endif
