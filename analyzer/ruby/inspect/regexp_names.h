/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_REGEXP_NAMES_H
#define RCORE_RUBY_REGEXP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The names of a regular expression's groups, out of its source: in a pattern
 * with named groups these alone are numbered, from left to right (doc/RE of
 * Onigmo). Gives the number-th name, from 1, and its length; false where there
 * is none.
 */
bool rcore_regexp_name(const char *source, size_t length, int number, const char **ret,
		       size_t *ret_length);

#endif
