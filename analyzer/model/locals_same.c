/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "model/locals_same.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static bool same_value(const struct rcore_value *a, const struct rcore_value *b)
{
	return rcore_same_text(a->text, b->text) && rcore_same_text(a->problem, b->problem);
}

static bool same_local(const struct rcore_local *a, const struct rcore_local *b)
{
	return rcore_same_text(a->variable.name, b->variable.name) &&
	       same_value(&a->variable.value, &b->variable.value) && a->level == b->level;
}

bool rcore_frame_values_same(const struct rcore_frame_values *a,
			     const struct rcore_frame_values *b)
{
	if (!a || !b)
		return a == b;
	if (a->has_self != b->has_self || a->local_count != b->local_count ||
	    !same_value(&a->self, &b->self) || !rcore_same_text(a->problem, b->problem))
		return false;
	for (size_t i = 0; i < a->local_count; i++)
		if (!same_local(&a->locals[i], &b->locals[i]))
			return false;
	return true;
}

bool rcore_frame_same(const struct rcore_frame *a, const struct rcore_frame *b)
{
	return a->kind == b->kind && a->line == b->line &&
	       rcore_same_text(a->label, b->label) && rcore_same_text(a->path, b->path) &&
	       rcore_same_text(a->problem, b->problem) &&
	       rcore_frame_values_same(a->values, b->values);
}

static uint64_t hash_text(const char *text, uint64_t hash)
{
	return text ? XXH3_64bits_withSeed(text, strlen(text), hash) : hash + 1;
}

uint64_t rcore_frame_hash(const struct rcore_frame *frame, int line, uint64_t hash)
{
	hash = hash_text(frame->path, hash_text(frame->label, hash));
	return XXH3_64bits_withSeed(&line, sizeof(line), hash);
}
