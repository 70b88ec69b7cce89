/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "heap/fold.h"
#include "heap/retained.h"
#include "ruby/object/value.h"
#include "session/heap/heap_graph.h"
#include "session/session.h"

struct counting {
	size_t limit, nodes;
	struct rcore_heap_retained *retained;
	struct rcore_heap_namer *namer;
	struct rcore_heap_walk walk;
	struct rcore_dominators dominators;
	struct rcore_heap_paths paths;
	uint32_t *group; /* of each slot: a number of namer->classes */
};

static int compare_rows(const void *a, const void *b)
{
	const struct rcore_retained_row *x = a, *y = b;
	if (x->retained != y->retained)
		return x->retained < y->retained ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void count_all(const struct counting *counting)
{
	const struct rcore_heap *heap = counting->namer->heap;
	struct rcore_heap_retained *retained = counting->retained;
	for (size_t i = 0; i < heap->span_count; i++) {
		const struct rcore_heap_span *span = &heap->spans[i];
		for (uint32_t slot = 0; slot < span->slot_count; slot++) {
			uint32_t node = span->first_node + slot;
			if (!heap->type[node])
				continue;
			retained->all.count++;
			/* rcore_heap_bytes() looks for the page. */
			uint64_t extra = heap->extra[node];
			retained->all.bytes += extra == UINT32_MAX
						       ? rcore_heap_bytes(heap, node)
						       : span->slot_size + extra;
		}
	}
	retained->reachable.count = counting->walk.count - counting->walk.owner_count;
	retained->reachable.bytes = counting->dominators.retained[0];
}

/* Owner 0 is all roots; those of a kind and those of a name follow. */
static struct rcore_error *count_roots(const struct counting *counting)
{
	const struct rcore_heap_walk *walk = &counting->walk;
	struct rcore_heap_retained *retained = counting->retained;
	struct rcore_error *err = NULL;
	size_t count = 0;
	retained->roots = rcore_arena_array(counting->namer->arena, walk->owner_count,
					    sizeof(*retained->roots));
	if (!retained->roots)
		return rcore_error_no_memory();
	for (uint32_t i = 1; i < walk->owner_count && !err; i++) {
		const struct rcore_heap_owner *owner = &walk->owners[i];
		uint32_t number = walk->number[walk->heap->node_count + i];
		/* Roots with a name are counted one by one, too. */
		if (i > RCORE_ROOT_KINDS && !owner->name)
			continue;
		/* Other roots also keep all of it alive. */
		if (!counting->dominators.retained[number])
			continue;
		struct rcore_retained_row *row = &retained->roots[count++];
		row->count = owner->roots;
		row->retained = counting->dominators.retained[number];
		err = rcore_heap_describe_root(counting->namer, owner->kind, owner->name,
					       &row->name);
	}
	if (!err)
		qsort(retained->roots, count, sizeof(*retained->roots), compare_rows);
	retained->all_roots = count;
	retained->root_count = count < counting->limit ? count : counting->limit;
	return err;
}

/* Makes classes with the same name share one number. */
static struct rcore_error *number_classes(const struct counting *counting, uint32_t *group)
{
	struct rcore_heap_namer *namer = counting->namer;
	struct rcore_error *err = NULL;
	for (uint32_t node = 0; node < namer->heap->node_count && !err; node++) {
		group[node] = RCORE_HEAP_NONE;
		if (rcore_heap_is_reachable(&counting->walk, node))
			err = rcore_heap_class_number(namer, node, &group[node]);
	}
	return err;
}

static struct rcore_error *list_classes(const struct counting *counting,
					const struct rcore_heap_group *groups, size_t count)
{
	struct rcore_heap_retained *retained = counting->retained;
	retained->classes =
		rcore_arena_array(counting->namer->arena, count, sizeof(*retained->classes));
	if (!retained->classes)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++)
		retained->classes[i] = (struct rcore_retained_row){
			.name = counting->namer->classes.items[i],
			.count = groups[i].count,
			.bytes = groups[i].bytes,
			.retained = groups[i].retained,
		};
	if (count)
		qsort(retained->classes, count, sizeof(*retained->classes), compare_rows);
	retained->all_classes = count;
	retained->class_count = count < counting->limit ? count : counting->limit;
	return NULL;
}

static struct rcore_error *name_node(struct rcore_heap_namer *namer,
				     const struct rcore_heap_walk *walk,
				     const struct rcore_fold_node *node,
				     struct rcore_retained_node *ret)
{
	size_t classes = namer->classes.count;
	*ret = (struct rcore_retained_node){
		.above = node->above,
		.is_root = node->title >= classes,
		.count = node->count,
		.bytes = node->bytes,
		.retained = node->retained,
	};
	if (!ret->is_root) {
		ret->title = namer->classes.items[node->title];
		return NULL;
	}
	size_t owner = node->title - classes;
	ret->title = "all roots";
	return owner ? rcore_heap_describe_root(namer, walk->owners[owner].kind,
						walk->owners[owner].name, &ret->title)
		     : NULL;
}

static struct rcore_error *list_nodes(const struct counting *counting, const uint32_t *group)
{
	struct rcore_heap_namer *namer = counting->namer;
	struct rcore_heap_retained *retained = counting->retained;
	struct rcore_fold fold;
	struct rcore_error *err =
		rcore_fold_init(&counting->walk, &counting->dominators, group,
				(uint32_t)namer->classes.count, counting->nodes, &fold);
	if (err)
		return err;
	retained->nodes = rcore_arena_array(namer->arena, fold.count, sizeof(*retained->nodes));
	if (!retained->nodes)
		err = rcore_error_no_memory();
	for (size_t i = 0; i < fold.count && !err; i++)
		err = name_node(namer, &counting->walk, &fold.items[i], &retained->nodes[i]);
	retained->node_count = err ? 0 : fold.count;
	retained->nodes_left_out = fold.left_out;
	rcore_fold_deinit(&fold);
	return err;
}

static struct rcore_error *count_classes(struct counting *counting)
{
	struct rcore_heap_namer *namer = counting->namer;
	uint32_t *group = rcore_calloc(namer->heap->node_count, sizeof(*group));
	struct rcore_heap_group *groups = NULL;
	struct rcore_error *err =
		group ? number_classes(counting, group) : rcore_error_no_memory();
	if (!err) {
		groups = rcore_calloc(namer->classes.count, sizeof(*groups));
		err = groups ? rcore_heap_group_retained(&counting->walk, &counting->dominators,
							 group, (uint32_t)namer->classes.count,
							 groups)
			     : rcore_error_no_memory();
	}
	if (!err)
		err = list_classes(counting, groups, namer->classes.count);
	if (!err && counting->nodes)
		err = list_nodes(counting, group);
	counting->group = group;
	free(groups);
	return err;
}

/* A class within a class within a class is no list. */
static void keep_classes(const struct counting *counting)
{
	const struct rcore_heap *heap = counting->namer->heap;
	for (uint32_t node = 0; node < heap->node_count; node++)
		if (heap->type[node] == RCORE_T_CLASS || heap->type[node] == RCORE_T_MODULE)
			counting->group[node] = RCORE_HEAP_NONE;
}

static bool is_holder(void *context, uint32_t node)
{
	struct rcore_heap_namer *namer = context;
	switch (namer->heap->type[node]) {
	case RCORE_T_CLASS:
	case RCORE_T_MODULE:
	case RCORE_T_ICLASS:
		return true;
	case RCORE_T_DATA:
		return rcore_heap_has_threads(namer->ruby,
					      rcore_heap_address(namer->heap, node));
	default:
		return false;
	}
}

static bool is_plain(void *context, uint32_t node)
{
	return !is_holder(context, node);
}

static struct rcore_error *list_object(struct counting *counting, uint32_t node,
				       struct rcore_retained_object *ret)
{
	struct rcore_error *err = rcore_heap_describe_one(counting->namer, node, &ret->object);
	ret->object.retained = counting->dominators.retained[counting->walk.number[node]];
	return err ? err
		   : rcore_heap_describe_route(counting->namer, &counting->paths, node,
					       &ret->route);
}

static struct rcore_error *list_objects(struct counting *counting)
{
	struct rcore_heap_retained *retained = counting->retained;
	struct rcore_heap_namer *namer = counting->namer;
	const struct rcore_heap_filter plain = {is_plain, namer}, holder = {is_holder, namer};
	const size_t limit = counting->limit;
	uint32_t *top = rcore_calloc(limit, 2 * sizeof(*top));
	retained->objects =
		rcore_arena_array(namer->arena, limit, 2 * sizeof(*retained->objects));
	if (!top || !retained->objects) {
		free(top);
		return rcore_error_no_memory();
	}
	keep_classes(counting);
	const size_t objects = rcore_heap_top_retained(&counting->walk, &counting->dominators,
						       counting->group, &plain, limit, top);
	const size_t count = objects + rcore_heap_top_retained(
					       &counting->walk, &counting->dominators,
					       counting->group, &holder, limit, top + objects);
	struct rcore_error *err =
		rcore_heap_paths_to(namer->heap, top, count, &counting->paths);
	for (size_t i = 0; i < count && !err; i++)
		err = list_object(counting, top[i], &retained->objects[i]);
	retained->object_count = err ? 0 : objects;
	retained->holders = &retained->objects[objects];
	retained->holder_count = err ? 0 : count - objects;
	free(top);
	return err;
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	struct counting *counting = context;
	counting->namer = namer;
	namer->redaction = &counting->retained->redaction;
	struct rcore_error *err = rcore_heap_walk_init(namer->heap, &counting->walk);
	if (!err)
		err = rcore_dominators_init(&counting->walk, &counting->dominators);
	if (!err) {
		count_all(counting);
		err = count_roots(counting);
	}
	if (!err)
		err = count_classes(counting);
	if (!err)
		err = list_objects(counting);
	return err ? err : rcore_heap_describe_gaps(namer, &counting->retained->gaps);
}

struct rcore_error *rcore_heap_retained(struct rcore_session *session, size_t limit,
					struct rcore_heap_retained **ret)
{
	return rcore_heap_retained_tree(session, limit, 0, ret);
}

struct rcore_error *rcore_heap_retained_tree(struct rcore_session *session, size_t limit,
					     size_t nodes, struct rcore_heap_retained **ret)
{
	struct rcore_heap_retained *retained = calloc(1, sizeof(*retained));
	if (!retained)
		return rcore_error_no_memory();
	struct counting counting = {.limit = limit, .nodes = nodes, .retained = retained};
	retained->redaction.mode = session->settings.redact;
	struct rcore_error *err =
		rcore_session_graph(session, &retained->arena, run, &counting);
	free(counting.group);
	rcore_heap_paths_deinit(&counting.paths);
	rcore_dominators_deinit(&counting.dominators);
	rcore_heap_walk_deinit(&counting.walk);
	if (err)
		rcore_heap_retained_free(retained);
	else
		*ret = retained;
	return err;
}

void rcore_heap_retained_free(struct rcore_heap_retained *retained)
{
	if (!retained)
		return;
	rcore_arena_deinit(&retained->arena);
	free(retained);
}
