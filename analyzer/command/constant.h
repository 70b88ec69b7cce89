/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_CONSTANT_H
#define RCORE_COMMAND_CONSTANT_H

#include <stdbool.h>
#include <string.h>

/*
 * Returns whether a word may be the path of a constant, "Foo::BAR". The capital
 * letter with which it begins may not be ASCII.
 */
static inline bool rcore_is_constant(const char *word)
{
	const char *name = strncmp(word, "::", 2) == 0 ? word + 2 : word;
	return (*name >= 'A' && *name <= 'Z') || (unsigned char)*name >= 0x80;
}

#endif
