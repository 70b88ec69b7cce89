/* SPDX-License-Identifier: MIT */
#include "model/context.h"

#include <string.h>

static const struct rcore_context_pair *at_slot(const struct rcore_context *context,
						uint64_t slot)
{
	size_t low = 0, high = context->pair_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (context->pairs[middle].slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low < context->pair_count && context->pairs[low].slot == slot
		       ? &context->pairs[low]
		       : NULL;
}

const struct rcore_context_pair *rcore_context_find(const struct rcore_context *context,
						    uint64_t key)
{
	if (!key || !context->capacity || context->capacity & (context->capacity - 1))
		return NULL;
	uint64_t mask = context->capacity - 1;
	uint64_t home = key & mask;
	for (uint64_t i = 0; i < context->capacity; i++) {
		const struct rcore_context_pair *pair = at_slot(context, (home + i) & mask);
		if (!pair || pair->key == key)
			return pair;
	}
	return NULL;
}

const struct rcore_context_pair *rcore_context_get(const struct rcore_context *context,
						   const char *name)
{
	for (size_t i = 0; i < context->pair_count; i++) {
		const struct rcore_context_pair *pair = &context->pairs[i];
		if (pair->variable.name && !strcmp(pair->variable.name, name))
			return rcore_context_find(context, pair->key);
	}
	return NULL;
}
