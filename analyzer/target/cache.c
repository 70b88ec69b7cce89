/* SPDX-License-Identifier: MIT */
#include "target/cache.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM          1
#define uthash_nonfatal_oom(block) ((block)->lost = true)
#include <uthash.h>

enum { PAGE = 4096, DEFAULT_MAX_BYTES = 16 << 20 };

/*
 * Memory is mapped by pages, so a page can be read as a whole or not at all. A
 * larger block that cannot be read as a whole is `broken`, and its pages are
 * blocks of their own.
 */
struct block {
	/* First address; for a page of a broken block, plus one. */
	uint64_t key;
	size_t size; /* of `bytes`; 0: broken */
	bool lost;
	UT_hash_handle hh;
	uint8_t bytes[];
};

struct rcore_cache {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	struct rcore_memory *below;
	size_t block_size, max_bytes, bytes;
	struct block *blocks; /* oldest first */
	struct block *last;
};

static void forget(struct rcore_cache *cache, struct block *block)
{
	HASH_DEL(cache->blocks, block);
	cache->bytes -= sizeof(*block) + block->size;
	if (cache->last == block)
		cache->last = NULL;
	free(block);
}

/*
 * Reads a block from below. Returns NULL if the target does not have all of it,
 * or memory is short.
 */
static struct block *load(struct rcore_cache *cache, uint64_t key, size_t size)
{
	struct block *block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->key = key;
	block->size = size;
	block->lost = false;
	if (size && rcore_read(cache->below, key & ~(uint64_t)1, block->bytes, size)) {
		free(block);
		return NULL;
	}
	while (cache->blocks && cache->bytes + sizeof(*block) + size > cache->max_bytes)
		forget(cache, cache->blocks);
	HASH_ADD(hh, cache->blocks, key, sizeof(block->key), block);
	if (block->lost) {
		free(block);
		return NULL;
	}
	cache->bytes += sizeof(*block) + size;
	return block;
}

static struct block *find(struct rcore_cache *cache, uint64_t address)
{
	struct block *block = cache->last;
	if (block && address - (block->key & ~(uint64_t)1) < block->size)
		return block;
	uint64_t key = address & ~(uint64_t)(cache->block_size - 1);
	HASH_FIND(hh, cache->blocks, &key, sizeof(key), block);
	if (!block)
		block = load(cache, key, cache->block_size);
	if (block && block->size)
		return cache->last = block;
	if (cache->block_size == PAGE)
		return NULL;
	if (!block)
		load(cache, key, 0);
	key = (address & ~(uint64_t)(PAGE - 1)) + 1;
	HASH_FIND(hh, cache->blocks, &key, sizeof(key), block);
	if (!block)
		block = load(cache, key, PAGE);
	if (block)
		cache->last = block;
	return block;
}

static enum rcore_fault read_cache(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct rcore_cache *cache = (struct rcore_cache *)memory;
	uint64_t end;
	if (__builtin_add_overflow(address, (uint64_t)size, &end))
		return RCORE_FAULT_UNMAPPED;
	if (size > 4 * cache->block_size)
		return rcore_read(cache->below, address, buffer, size);
	uint8_t *out = buffer;
	while (size) {
		struct block *block = find(cache, address);
		if (!block)
			return rcore_read(cache->below, address, out, size);
		size_t offset = address - (block->key & ~(uint64_t)1);
		size_t part = block->size - offset;
		if (part > size)
			part = size;
		memcpy(out, block->bytes + offset, part);
		out += part;
		address += part;
		size -= part;
	}
	return RCORE_FAULT_NONE;
}

struct rcore_error *rcore_cache_open(struct rcore_memory *below,
				     const struct rcore_cache_options *options,
				     struct rcore_cache **ret)
{
	size_t block_size = options && options->block_size ? options->block_size : PAGE;
	if (block_size < PAGE || block_size & (block_size - 1))
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"a cache's block must be a power of two, at least %d bytes: not %zu",
			PAGE, block_size);
	struct rcore_cache *cache = calloc(1, sizeof(*cache));
	if (!cache)
		return rcore_error_no_memory();
	cache->memory.read = read_cache;
	cache->below = below;
	cache->block_size = block_size;
	cache->max_bytes =
		options && options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES;
	*ret = cache;
	return NULL;
}

void rcore_cache_close(struct rcore_cache *cache)
{
	if (cache)
		rcore_cache_drop(cache);
	free(cache);
}

struct rcore_memory *rcore_cache_memory(struct rcore_cache *cache)
{
	return &cache->memory;
}

void rcore_cache_drop(struct rcore_cache *cache)
{
	while (cache->blocks)
		forget(cache, cache->blocks);
}
