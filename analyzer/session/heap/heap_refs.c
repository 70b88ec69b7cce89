/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "report/heap_export.h"
#include "ruby/object/constant.h"
#include "session/heap/heap_graph.h"
#include "session/heap/heap_variables.h"
#include "session/session.h"

struct search {
	const struct rcore_refs_options *options;
	struct rcore_heap_refs *refs;
};

/* A variable whose value is not in the heap (nil, 1) is not among the roots. */
static struct rcore_error *find_global(const struct rcore_heap *heap, const char *name,
				       uint64_t *ret)
{
	char escaped[128];
	for (size_t i = 0; i < heap->root_count; i++) {
		const struct rcore_heap_root *root = &heap->roots[i];
		if (root->kind != RCORE_ROOT_GLOBAL || root->name >= heap->name_count ||
		    strcmp(heap->names[root->name], name) != 0)
			continue;
		*ret = rcore_heap_address(heap, root->node);
		return NULL;
	}
	rcore_escape(escaped, sizeof(escaped), name);
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "no global variable %s refers to an object in Ruby's heap; "
				  "there is none, its value is nil, a small number or the "
				  "like, or C code keeps it elsewhere",
				  escaped);
}

static struct rcore_error *find_address(const struct rcore_heap_namer *namer,
					const struct rcore_refs_options *options, uint64_t *ret)
{
	const struct rcore_heap *heap = namer->heap;
	*ret = options->address;
	if (options->constant)
		return rcore_constant(namer->ruby, options->constant, ret);
	if (options->global)
		return find_global(heap, options->global, ret);
	if (!options->is_id)
		return NULL;
	uint64_t node = *ret / 2;
	if (node >= heap->node_count || rcore_heap_snapshot_id((uint32_t)node) != *ret)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"a heapsnapshot of this core has no object with the id @%llu",
			(unsigned long long)*ret);
	*ret = rcore_heap_address(heap, (uint32_t)node);
	return NULL;
}

static struct rcore_error *find_node(const struct rcore_heap_namer *namer,
				     const struct rcore_refs_options *options, uint32_t *ret)
{
	const struct rcore_heap *heap = namer->heap;
	uint64_t address;
	struct rcore_error *err = find_address(namer, options, &address);
	if (err)
		return err;
	*ret = rcore_heap_node_at(heap, address, true);
	if (*ret == RCORE_HEAP_NONE && options->constant)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"the value of %s is not in Ruby's heap: it is a small number, nil or "
			"the like",
			options->constant);
	if (*ret == RCORE_HEAP_NONE)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"0x%llx is not in Ruby's heap; name the address of an "
			"object",
			(unsigned long long)address);
	if (heap->type[*ret])
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE,
				  heap->state[*ret] & RCORE_HEAP_ABSENT
					  ? "the page of 0x%llx is not in the core"
					  : "0x%llx is a free slot: no object is there",
				  (unsigned long long)address);
}

/* Roots that have the same name are one holder. */
struct holders {
	struct holder {
		const struct rcore_heap_root *root; /* the first one */
		const struct rcore_thread *thread;
		uint64_t count;
	} * items;
	size_t count, capacity;
};

/*
 * Compares with the last holders only: roots of one name are near each other,
 * and a core may have millions. Returns false if memory is short.
 */
static bool add_root(struct holders *holders, const struct rcore_heap_root *root,
		     const struct rcore_thread *thread)
{
	enum { COMPARED = 256 };
	for (size_t i = 1; i <= holders->count && i <= COMPARED; i++) {
		struct holder *holder = &holders->items[holders->count - i];
		if (holder->root->kind == root->kind && holder->root->name == root->name &&
		    holder->thread == thread) {
			holder->count++;
			return true;
		}
	}
	struct holder *holder = rcore_push(holders);
	if (holder)
		*holder = (struct holder){root, thread, 1};
	return holder;
}

/* Describes at most `limit` holders, and counts the roots of each one. */
static struct rcore_error *describe_roots(struct rcore_heap_namer *namer,
					  const struct rcore_heap_referrers *found,
					  size_t limit, struct rcore_heap_refs *refs)
{
	struct holders holders = {0};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < found->root_count && !err; i++)
		if (!add_root(&holders, found->roots[i],
			      rcore_heap_thread_of_root(namer, found->roots[i])))
			err = rcore_error_no_memory();
	const size_t count = holders.count < limit ? holders.count : limit;
	refs->roots = rcore_arena_array(namer->arena, count, sizeof(*refs->roots));
	if (!refs->roots && !err)
		err = rcore_error_no_memory();
	for (size_t i = 0; i < count && !err; i++) {
		struct rcore_heap_holder *root = &refs->roots[refs->root_count++];
		root->count = holders.items[i].count;
		root->is_stack = holders.items[i].root->kind == RCORE_ROOT_MACHINE;
		err = rcore_heap_describe_one_root(namer, holders.items[i].root, &root->root);
	}
	free(holders.items);
	return err;
}

static struct rcore_error *describe_referrers(struct rcore_heap_namer *namer, uint32_t node,
					      const struct rcore_heap_referrers *found,
					      struct rcore_heap_refs *refs)
{
	struct rcore_error *err = NULL;
	refs->total = found->total;
	refs->referrers =
		rcore_arena_array(namer->arena, found->count, sizeof(*refs->referrers));
	if (!refs->referrers)
		return rcore_error_no_memory();
	for (size_t i = 0; i < found->count && !err; i++) {
		struct rcore_heap_link *link = &refs->referrers[refs->referrer_count++];
		uint32_t label = found->items[i].label;
		link->is_conservative = rcore_edge_kind(label) == RCORE_EDGE_CONSERVATIVE;
		err = rcore_heap_describe_one(namer, found->items[i].node, &link->object);
		if (!err)
			err = rcore_heap_describe_edge_of(namer, found->items[i].node, node,
							  label, &link->how);
	}
	return err;
}

static struct rcore_error *find_route(struct rcore_heap_namer *namer, uint32_t node,
				      struct rcore_heap_refs *refs)
{
	struct rcore_heap_paths paths;
	struct rcore_error *err = rcore_heap_paths_to(namer->heap, &node, 1, &paths);
	if (err)
		return err;
	err = rcore_heap_describe_route(namer, &paths, node, &refs->route);
	rcore_heap_paths_deinit(&paths);
	return err;
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	const struct search *search = context;
	struct rcore_heap_refs *refs = search->refs;
	namer->redaction = &refs->redaction;
	struct rcore_heap_referrers found;
	uint32_t node = 0;
	struct rcore_error *err = find_node(namer, search->options, &node);
	if (!err)
		err = rcore_heap_describe_one(namer, node, &refs->object);
	if (!err)
		err = rcore_heap_describe_gaps(namer, &refs->gaps);
	if (!err)
		err = find_route(namer, node, refs);
	if (!err)
		err = rcore_heap_referrers_init(namer->heap, node, search->options->limit,
						&found);
	if (err)
		return err;
	err = describe_referrers(namer, node, &found, refs);
	if (!err)
		err = describe_roots(namer, &found, search->options->limit, refs);
	if (!err)
		err = rcore_heap_find_variables(namer, node, search->options->limit,
						&refs->variables, &refs->variable_count);
	rcore_heap_referrers_deinit(&found);
	return err;
}

struct rcore_error *rcore_heap_refs(struct rcore_session *session,
				    const struct rcore_refs_options *options,
				    struct rcore_heap_refs **ret)
{
	struct rcore_heap_refs *refs = calloc(1, sizeof(*refs));
	if (!refs)
		return rcore_error_no_memory();
	struct search search = {options, refs};
	refs->redaction.mode = session->settings.redact;
	struct rcore_error *err = rcore_session_graph(session, &refs->arena, run, &search);
	if (err)
		rcore_heap_refs_free(refs);
	else
		*ret = refs;
	return err;
}

void rcore_heap_refs_free(struct rcore_heap_refs *refs)
{
	if (!refs)
		return;
	rcore_arena_deinit(&refs->arena);
	free(refs);
}
