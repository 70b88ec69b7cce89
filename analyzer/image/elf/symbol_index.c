/* SPDX-License-Identifier: MIT */
#include "image/elf/symbol_index.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(node) ((node)->lost = true)
#include <uthash.h>

#include "base/arena.h"

struct node {
	const char *name;
	uint64_t address, size;
	bool lost;
	UT_hash_handle hh;
};

struct rcore_symbol_index {
	struct rcore_arena arena;
	struct node *nodes;
};

struct rcore_symbol_index *rcore_symbol_index_new(void)
{
	return calloc(1, sizeof(struct rcore_symbol_index));
}

void rcore_symbol_index_free(struct rcore_symbol_index *index)
{
	if (!index)
		return;
	HASH_CLEAR(hh, index->nodes);
	rcore_arena_deinit(&index->arena);
	free(index);
}

static struct node *find(const struct rcore_symbol_index *index, const char *name)
{
	struct node *node;
	HASH_FIND_STR(index->nodes, name, node);
	return node;
}

bool rcore_symbol_index_add(struct rcore_symbol_index *index, const char *name,
			    uint64_t address, uint64_t size)
{
	if (find(index, name))
		return true;
	struct node *node = rcore_arena_alloc(&index->arena, sizeof(*node));
	if (!node)
		return false;
	node->name = name;
	node->address = address;
	node->size = size;
	HASH_ADD_KEYPTR(hh, index->nodes, name, strlen(name), node);
	return !node->lost;
}

bool rcore_symbol_index_find(const struct rcore_symbol_index *index, const char *name,
			     uint64_t *address, uint64_t *size)
{
	struct node *node = find(index, name);
	if (!node)
		return false;
	*address = node->address;
	if (size)
		*size = node->size;
	return true;
}
