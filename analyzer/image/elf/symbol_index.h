/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOL_INDEX_H
#define RCORE_IMAGE_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names to addresses in the file. */
struct rcore_symbol_index;

/* NULL: memory is short. */
struct rcore_symbol_index *rcore_symbol_index_new(void);
void rcore_symbol_index_free(struct rcore_symbol_index *index); /* NULL-safe */

/*
 * The first address of a name stays. `name` is not copied. false: memory is
 * short.
 */
bool rcore_symbol_index_add(struct rcore_symbol_index *index, const char *name,
			    uint64_t address, uint64_t size);

bool rcore_symbol_index_find(const struct rcore_symbol_index *index, const char *name,
			     uint64_t *address, uint64_t *size);

#endif
