/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_strings.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/grow.h"
#include "heap/duplicates.h"
#include "model/heap/heap_export.h"
#include "ruby/children/contents.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/value.h"
#include "session/heap/heap_graph.h"
#include "session/session.h"

/* A group of equal Strings, or of equal Arrays. One list has both. */
struct group {
	uint64_t count, bytes, wasted;
	uint32_t first_node;
	size_t first; /* of `contents` */
	const struct rcore_content *contents;
};

/* How a class refers to the objects of a group. */
struct holder {
	struct {
		uint32_t group, klass;
		size_t step;
	} key;
	uint32_t label;
	uint64_t count;
	UT_hash_handle hh;
};

struct finding {
	size_t limit;
	struct rcore_heap_strings *strings;
	struct rcore_heap_namer *namer;
	struct rcore_heap_paths paths;
	struct {
		struct rcore_content *items;
		size_t count, capacity;
	} texts, lists;
	struct rcore_duplicates duplicate_texts, duplicate_lists;
	/*
	 * By node: while Arrays are hashed, the String that stands for it;
	 * then, the group that it belongs to. Or RCORE_HEAP_NONE.
	 */
	uint32_t *same;
	struct {
		struct group *items;
		size_t count, capacity;
	} groups;
	struct holder *holders;
};

static bool is_wanted(const struct finding *finding, uint32_t node, enum rcore_type type)
{
	const struct rcore_heap *heap = finding->namer->heap;
	/* Without a class: the VM's own, such as a buffer that others share. */
	return heap->type[node] == type && finding->paths.before[node] != RCORE_HEAP_NONE &&
	       rcore_heap_class(heap, node) != RCORE_HEAP_NONE;
}

static void count(struct finding *finding, struct rcore_duplicated_sum *sum, uint32_t node)
{
	sum->count++;
	sum->bytes += rcore_heap_bytes(finding->namer->heap, node);
}

static uint64_t stand_in(void *context, uint64_t value)
{
	const struct finding *finding = context;
	const struct rcore_heap *heap = finding->namer->heap;
	uint32_t node = rcore_heap_node_at(heap, value, false);
	if (node == RCORE_HEAP_NONE || finding->same[node] == RCORE_HEAP_NONE)
		return value;
	return rcore_heap_address(heap, finding->same[node]);
}

static struct rcore_error *hash_all(struct finding *finding, enum rcore_type type,
				    struct rcore_duplicated_sum *sum)
{
	const struct rcore_heap *heap = finding->namer->heap;
	struct rcore_ruby *ruby = finding->namer->ruby;
	uint64_t budget = RCORE_CONTENTS_LIMIT;
	for (uint32_t node = 0; node < heap->node_count; node++) {
		struct rcore_content content = {.node = node}, *item;
		if (!is_wanted(finding, node, type))
			continue;
		count(finding, sum, node);
		uint64_t address = rcore_heap_address(heap, node);
		bool read = type == RCORE_T_STRING
				    ? rcore_hash_string(ruby, address, &budget, &content)
				    : rcore_hash_array(ruby, address, &budget, stand_in,
						       finding, &content);
		finding->strings->unread += !read;
		if (!read)
			continue;
		item = type == RCORE_T_STRING ? rcore_push(&finding->texts)
					      : rcore_push(&finding->lists);
		if (!item)
			return rcore_error_no_memory();
		*item = content;
	}
	return NULL;
}

/* Each String that exists several times is the first one of its group. */
static void unify_strings(struct finding *finding)
{
	const struct rcore_duplicates *found = &finding->duplicate_texts;
	for (size_t i = 0; i < found->count; i++) {
		const struct rcore_content *contents =
			&finding->texts.items[found->items[i].first];
		for (size_t k = 0; k < found->items[i].count; k++)
			finding->same[contents[k].node] = contents[0].node;
	}
}

static struct rcore_error *add_groups(struct finding *finding,
				      const struct rcore_duplicates *found,
				      const struct rcore_content *contents,
				      struct rcore_duplicated_sum *sum)
{
	sum->wasted = found->wasted;
	finding->strings->all_groups += found->count;
	for (size_t i = 0; i < found->count; i++) {
		const struct rcore_duplicate *item = &found->items[i];
		sum->duplicates += item->count - 1;
		/* They are sorted by what they waste. */
		if (i >= finding->limit)
			continue;
		struct group *group = rcore_push(&finding->groups);
		if (!group)
			return rcore_error_no_memory();
		*group = (struct group){
			.count = item->count,
			.bytes = item->bytes,
			.wasted = item->wasted,
			.first_node = contents[item->first].node,
			.contents = &contents[item->first],
		};
	}
	return NULL;
}

static int by_wasted(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->wasted != y->wasted)
		return x->wasted < y->wasted ? 1 : -1;
	return (x->first_node > y->first_node) - (x->first_node < y->first_node);
}

static struct rcore_error *find_groups(struct finding *finding)
{
	struct rcore_heap_strings *strings = finding->strings;
	const struct rcore_heap *heap = finding->namer->heap;
	struct rcore_error *err = hash_all(finding, RCORE_T_STRING, &strings->strings);
	if (!err)
		err = rcore_duplicates_find(heap, finding->texts.items, finding->texts.count,
					    &finding->duplicate_texts);
	if (err)
		return err;
	unify_strings(finding);
	err = hash_all(finding, RCORE_T_ARRAY, &strings->arrays);
	if (!err)
		err = rcore_duplicates_find(heap, finding->lists.items, finding->lists.count,
					    &finding->duplicate_lists);
	if (!err)
		err = add_groups(finding, &finding->duplicate_texts, finding->texts.items,
				 &strings->strings);
	if (!err)
		err = add_groups(finding, &finding->duplicate_lists, finding->lists.items,
				 &strings->arrays);
	if (err)
		return err;
	if (finding->groups.count)
		qsort(finding->groups.items, finding->groups.count,
		      sizeof(*finding->groups.items), by_wasted);
	if (finding->groups.count > finding->limit)
		finding->groups.count = finding->limit;
	memset(finding->same, 0xff, heap->node_count * sizeof(*finding->same));
	for (uint32_t i = 0; i < finding->groups.count; i++)
		for (size_t k = 0; k < finding->groups.items[i].count; k++)
			finding->same[finding->groups.items[i].contents[k].node] = i;
	return NULL;
}

static struct rcore_error *add_holder(struct finding *finding, uint32_t node, uint32_t edge)
{
	const struct rcore_heap *heap = finding->namer->heap;
	struct holder like = {.label = heap->label[edge]}, *found;
	like.key.group = finding->same[heap->target[edge]];
	like.key.step = rcore_heap_step(heap, like.label);
	struct rcore_error *err =
		rcore_heap_class_number(finding->namer, node, &like.key.klass);
	if (err)
		return err;
	HASH_FIND(hh, finding->holders, &like.key, sizeof(like.key), found);
	if (found) {
		found->count++;
		return NULL;
	}
	found = malloc(sizeof(*found));
	if (!found)
		return rcore_error_no_memory();
	*found = like;
	found->count = 1;
	HASH_ADD(hh, finding->holders, key, sizeof(found->key), found);
	if (found->hh.tbl)
		return NULL;
	free(found);
	return rcore_error_no_memory();
}

static struct rcore_error *find_holders(struct finding *finding)
{
	const struct rcore_heap *heap = finding->namer->heap;
	struct rcore_error *err = NULL;
	for (uint32_t node = 0; node < heap->node_count && !err; node++) {
		if (finding->paths.before[node] == RCORE_HEAP_NONE)
			continue;
		for (uint32_t edge = heap->first_edge[node];
		     edge < heap->first_edge[node + 1] && !err; edge++)
			if (finding->same[heap->target[edge]] != RCORE_HEAP_NONE)
				err = add_holder(finding, node, edge);
	}
	return err;
}

static int by_group(struct holder *x, struct holder *y)
{
	if (x->key.group != y->key.group)
		return x->key.group < y->key.group ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->key.klass != y->key.klass)
		return x->key.klass < y->key.klass ? -1 : 1;
	return (x->key.step > y->key.step) - (x->key.step < y->key.step);
}

static struct rcore_error *describe_holders(struct finding *finding)
{
	struct rcore_heap_namer *namer = finding->namer;
	struct rcore_error *err = NULL;
	if (finding->holders)
		HASH_SORT(finding->holders, by_group);
	for (struct holder *holder = finding->holders; holder && !err;
	     holder = holder->hh.next) {
		struct rcore_duplicated *group = &finding->strings->groups[holder->key.group];
		group->all_holders++;
		if (group->holder_count == RCORE_SHOWN_HOLDERS)
			continue;
		struct rcore_holder *shown = &group->holders[group->holder_count++];
		shown->klass = namer->classes.items[holder->key.klass];
		shown->count = holder->count;
		err = rcore_heap_describe_step(namer, holder->label, &shown->how);
	}
	return err;
}

static struct rcore_error *describe_group(struct finding *finding, const struct group *group,
					  struct rcore_duplicated *ret,
					  struct rcore_printed *printed)
{
	static const struct rcore_inspect_options options = {.max_text = 200};
	struct rcore_heap_namer *namer = finding->namer;
	ret->count = group->count;
	ret->bytes = group->bytes;
	ret->wasted = group->wasted;
	struct rcore_error *err = rcore_heap_describe(namer, group->first_node, &ret->first);
	if (!err)
		err = rcore_heap_describe_route(namer, &finding->paths, group->first_node,
						&ret->route);
	if (!err)
		err = rcore_inspect(namer->ruby, ret->first.address, &options, &printed->value);
	return err;
}

static struct rcore_error *describe_all(struct finding *finding)
{
	struct rcore_heap_strings *strings = finding->strings;
	struct rcore_arena *arena = &strings->print.arena;
	const size_t count = finding->groups.count;
	struct rcore_error *err = NULL;
	strings->groups = rcore_arena_array(arena, count, sizeof(*strings->groups));
	strings->print.items = rcore_arena_array(arena, count, sizeof(*strings->print.items));
	if (!strings->groups || !strings->print.items)
		return rcore_error_no_memory();
	strings->print.count = count;
	for (size_t i = 0; i < count && !err; i++)
		err = describe_group(finding, &finding->groups.items[i], &strings->groups[i],
				     &strings->print.items[i]);
	if (!err)
		err = find_holders(finding);
	return err ? err : describe_holders(finding);
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	struct finding *finding = context;
	struct rcore_heap_strings *strings = finding->strings;
	const struct rcore_heap *heap = namer->heap;
	finding->namer = namer;
	namer->redaction = &strings->print.redaction;
	/* What is read stays for the report. */
	namer->ruby->arena = namer->arena;
	finding->same = rcore_calloc(heap->node_count, sizeof(*finding->same));
	if (!finding->same)
		return rcore_error_no_memory();
	memset(finding->same, 0xff, heap->node_count * sizeof(*finding->same));
	struct rcore_error *err = rcore_heap_paths_init(heap, &finding->paths);
	if (!err)
		err = find_groups(finding);
	if (!err)
		err = describe_all(finding);
	if (!err)
		err = rcore_heap_describe_gaps(namer, &strings->gaps);
	if (!err)
		err = rcore_redact_print(namer->redactor, &strings->print);
	strings->print.redaction.counts[RCORE_REDACTED_STRING] += namer->ruby->hidden_count;
	return err;
}

static void deinit(struct finding *finding)
{
	struct holder *holder, *next;
	HASH_ITER (hh, finding->holders, holder, next) {
		HASH_DEL(finding->holders, holder);
		free(holder);
	}
	rcore_heap_paths_deinit(&finding->paths);
	free(finding->texts.items);
	free(finding->lists.items);
	free(finding->duplicate_texts.items);
	free(finding->duplicate_lists.items);
	free(finding->same);
	free(finding->groups.items);
}

struct rcore_error *rcore_heap_strings(struct rcore_session *session, size_t limit,
				       struct rcore_heap_strings **ret)
{
	struct rcore_heap_strings *strings = calloc(1, sizeof(*strings));
	if (!strings)
		return rcore_error_no_memory();
	struct finding finding = {.limit = limit, .strings = strings};
	strings->print.redaction.mode = session->settings.redact;
	struct rcore_error *err =
		rcore_session_graph(session, &strings->print.arena, run, &finding);
	deinit(&finding);
	if (err)
		rcore_heap_strings_free(strings);
	else
		*ret = strings;
	return err;
}

void rcore_heap_strings_free(struct rcore_heap_strings *strings)
{
	if (!strings)
		return;
	rcore_arena_deinit(&strings->print.arena);
	free(strings);
}
