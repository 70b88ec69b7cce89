/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_NEAREST_H
#define RCORE_COMMAND_NEAREST_H

#include <stddef.h>

/*
 * Finds the name that the user meant by a mistyped word. Set `word` and
 * `length`, then compare each name.
 */
struct rcore_nearest {
	const char *word;
	size_t length;    /* of the word, which need not end there */
	const char *name; /* the nearest one so far; NULL: none is near */
	size_t distance;  /* of `name` */
};

/*
 * A name is near if one letter is missing, added, replaced or exchanged with
 * the next one; two letters if the word has six or more.
 */
void rcore_nearest_compare(struct rcore_nearest *nearest, const char *name);

#endif
