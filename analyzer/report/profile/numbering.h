/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_NUMBERING_H
#define RCORE_REPORT_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Assigns new numbers, 0, 1, 2 ..., to the entries of a table that a part of an
 * output uses.
 */
struct rcore_numbering {
	uint32_t *plus_one; /* for each entry; 0: not used */
	uint32_t *entries;  /* used entries, by their new numbers */
	size_t count;
};

/* Makes room for a table. Returns false if memory is short. */
static inline bool rcore_numbering_init(struct rcore_numbering *numbering, size_t entries)
{
	*numbering = (struct rcore_numbering){
		.plus_one = calloc(entries + 1, sizeof(*numbering->plus_one)),
		.entries = calloc(entries + 1, sizeof(*numbering->entries)),
	};
	return numbering->plus_one && numbering->entries;
}

static inline void rcore_numbering_deinit(struct rcore_numbering *numbering)
{
	free(numbering->plus_one);
	free(numbering->entries);
}

static inline uint32_t rcore_numbering_add(struct rcore_numbering *numbering, uint32_t entry)
{
	if (!numbering->plus_one[entry]) {
		numbering->entries[numbering->count++] = entry;
		numbering->plus_one[entry] = (uint32_t)numbering->count;
	}
	return numbering->plus_one[entry] - 1;
}

/* Forgets all numbers. */
static inline void rcore_numbering_clear(struct rcore_numbering *numbering)
{
	while (numbering->count)
		numbering->plus_one[numbering->entries[--numbering->count]] = 0;
}

#endif
