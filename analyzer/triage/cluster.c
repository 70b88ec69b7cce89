/* SPDX-License-Identifier: MIT */
#include "triage/cluster.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_LINES = 64,
	/*
	 * in percent: most of a stack is equal, such as after a frame was added
	 * or renamed
	 */
	SIMILAR = 60
};

struct text_line {
	const char *start;
	size_t length;
};

static size_t split(const char *text, struct text_line lines[MAX_LINES])
{
	size_t count = 0;
	while (*text && count < MAX_LINES) {
		size_t length = strcspn(text, "\n");
		lines[count++] = (struct text_line){text, length};
		text += length + (text[length] == '\n');
	}
	return count;
}

static bool same(const struct text_line *a, const struct text_line *b)
{
	return a->length == b->length && !memcmp(a->start, b->start, a->length);
}

/* Dice's coefficient of the longest common subsequence. */
unsigned rcore_similarity(const char *left, const char *right)
{
	struct text_line a[MAX_LINES], b[MAX_LINES];
	size_t a_count = split(left, a), b_count = split(right, b);
	unsigned lengths[MAX_LINES + 1] = {0};
	for (size_t i = 0; i < a_count; i++) {
		unsigned diagonal = 0;
		for (size_t j = 0; j < b_count; j++) {
			unsigned above = lengths[j + 1];
			if (same(&a[i], &b[j]))
				lengths[j + 1] = diagonal + 1;
			else if (lengths[j] > above)
				lengths[j + 1] = lengths[j];
			diagonal = above;
		}
	}
	size_t all = a_count + b_count;
	return all ? (unsigned)(200 * lengths[b_count] / all) : 0;
}

static int by_signature(const void *left, const void *right)
{
	const struct rcore_result *a = *(const struct rcore_result *const *)left;
	const struct rcore_result *b = *(const struct rcore_result *const *)right;
	int order = strcmp(a->loose, b->loose);
	return order                    ? order
	       : a->status != b->status ? a->status - b->status
					: strcmp(a->core, b->core);
}

static int by_size(const void *left, const void *right)
{
	const struct rcore_cluster *a = left, *b = right;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->signature, b->signature);
}

/* Sorts the results that have a signature by it. */
static size_t sort(const struct rcore_result *results, size_t count,
		   const struct rcore_result **ret)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (results[i].loose)
			ret[kept++] = &results[i];
	qsort(ret, kept, sizeof(struct rcore_result *), by_signature);
	return kept;
}

static const struct rcore_result *find(const struct rcore_result *results, size_t count,
				       const char *signature)
{
	for (size_t i = 0; i < count; i++)
		if (results[i].loose && !strcmp(results[i].loose, signature))
			return &results[i];
	return NULL;
}

static void group(const struct rcore_result **sorted, size_t count, struct rcore_clusters *ret)
{
	for (size_t i = 0; i < count; i++) {
		struct rcore_cluster *last = ret->count ? &ret->items[ret->count - 1] : NULL;
		if (last && !strcmp(last->signature, sorted[i]->loose)) {
			last->count++;
			continue;
		}
		ret->items[ret->count++] = (struct rcore_cluster){
			.signature = sorted[i]->loose,
			.first = sorted[i],
			.results = &sorted[i],
			.count = 1,
		};
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), by_size);
}

static void compare(struct rcore_cluster *cluster, const struct rcore_result *other)
{
	if (!other->loose || !other->loose_text || !cluster->first->loose_text ||
	    !strcmp(other->loose, cluster->signature))
		return;
	unsigned similarity = rcore_similarity(cluster->first->loose_text, other->loose_text);
	if (similarity >= SIMILAR && similarity > cluster->similarity) {
		cluster->similar_to = other->loose;
		cluster->similarity = similarity;
	}
}

static void compare_with(struct rcore_clusters *clusters, const struct rcore_result *baseline,
			 size_t baseline_count)
{
	for (size_t i = 0; i < clusters->count; i++) {
		struct rcore_cluster *cluster = &clusters->items[i];
		for (size_t j = 0; j < i; j++)
			compare(cluster, clusters->items[j].first);
		if (!baseline)
			continue;
		bool known = find(baseline, baseline_count, cluster->signature);
		cluster->novelty = known ? RCORE_NOVELTY_KNOWN : RCORE_NOVELTY_NEW;
		for (size_t j = 0; !known && j < baseline_count; j++)
			compare(cluster, &baseline[j]);
	}
}

struct rcore_error *rcore_cluster_make(const struct rcore_result *results, size_t count,
				       const struct rcore_result *baseline,
				       size_t baseline_count, struct rcore_arena *arena,
				       struct rcore_clusters *ret)
{
	struct rcore_clusters clusters = {0};
	size_t pointers = (count + 1) * sizeof(struct rcore_result *);
	const struct rcore_result **sorted = rcore_arena_alloc(arena, pointers);
	const struct rcore_result **old =
		rcore_arena_array(arena, baseline_count, sizeof(struct rcore_result *));
	clusters.items = rcore_arena_array(arena, count, sizeof(*clusters.items));
	clusters.failed = rcore_arena_alloc(arena, pointers);
	if (!sorted || !old || !clusters.items || !clusters.failed)
		return rcore_error_no_memory();
	group(sorted, sort(results, count, sorted), &clusters);
	for (size_t i = 0; i < count; i++)
		if (!results[i].loose)
			clusters.failed[clusters.failed_count++] = &results[i];
	compare_with(&clusters, baseline, baseline_count);
	size_t old_count = sort(baseline, baseline_count, old);
	clusters.gone = old;
	for (size_t i = 0; i < old_count; i++)
		if (!find(results, count, old[i]->loose) &&
		    (!i || strcmp(old[i]->loose, old[i - 1]->loose) != 0))
			clusters.gone[clusters.gone_count++] = old[i];
	*ret = clusters;
	return NULL;
}
