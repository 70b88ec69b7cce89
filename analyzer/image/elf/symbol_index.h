/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOL_INDEX_H
#define RCORE_IMAGE_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps names to addresses in the file. */
struct rcore_symbol_index;

/* Returns NULL if memory is short. */
struct rcore_symbol_index *rcore_symbol_index_new(void);
void rcore_symbol_index_free(struct rcore_symbol_index *index); /* NULL-safe */

/*
 * If a name is added twice, the first address is kept. `name` is not copied.
 * Returns false if memory is short.
 */
bool rcore_symbol_index_add(struct rcore_symbol_index *index, const char *name,
			    uint64_t address, uint64_t size);

bool rcore_symbol_index_find(const struct rcore_symbol_index *index, const char *name,
			     uint64_t *address, uint64_t *size);

#endif
