/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_diff.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/grow.h"
#include "heap/trails.h"
#include "ruby/object/value.h"
#include "session/heap/heap_graph.h"
#include "session/heap/heap_origin.h"
#include "session/heap/malloc.h"
#include "session/session.h"

/* Texts of all heaps, each once; its number is the same in all. */
struct text {
	const char *text;
	uint32_t number;
	UT_hash_handle hh;
};

struct texts {
	struct text *table;
	const char **items;
	size_t count, capacity;
};

struct comparing {
	struct rcore_heap_diff *diff;
	unsigned side;
	struct rcore_heap_origin origins[RCORE_DIFF_SIDES];
	struct rcore_trails trails;
	struct texts classes, names;
	struct {
		struct rcore_diff_class *items;
		size_t count, capacity;
	} sums;
};

static void texts_deinit(struct texts *texts)
{
	struct text *text, *next;
	HASH_ITER (hh, texts->table, text, next) {
		HASH_DEL(texts->table, text);
		free(text);
	}
	free(texts->items);
}

static struct rcore_error *number_of(struct texts *texts, const char *text, uint32_t *ret)
{
	struct text *found;
	HASH_FIND_STR(texts->table, text, found);
	if (found) {
		*ret = found->number;
		return NULL;
	}
	const char **item = rcore_push(texts);
	found = calloc(1, sizeof(*found));
	if (!item || !found) {
		free(found);
		return rcore_error_no_memory();
	}
	*item = text;
	found->text = text;
	found->number = *ret = (uint32_t)texts->count - 1;
	HASH_ADD_KEYPTR(hh, texts->table, text, strlen(text), found);
	if (found->hh.tbl)
		return NULL;
	free(found);
	return rcore_error_no_memory();
}

/* Replaces indices of names by common numbers. The texts move to the arena. */
static struct rcore_error *number_names(struct comparing *comparing,
					struct rcore_heap_namer *namer, uint32_t *ret)
{
	struct rcore_error *err = NULL;
	for (uint32_t i = 0; i < namer->heap->name_count && !err; i++) {
		const char *name = rcore_arena_strdup(namer->arena, namer->heap->names[i]);
		err = name ? number_of(&comparing->names, name, &ret[i])
			   : rcore_error_no_memory();
	}
	return err;
}

static struct rcore_error *add_to_class(struct comparing *comparing,
					const struct rcore_heap *heap, uint32_t node,
					uint32_t klass)
{
	while (comparing->sums.count <= klass) {
		struct rcore_diff_class *sum = rcore_push(&comparing->sums);
		if (!sum)
			return rcore_error_no_memory();
		sum->name = comparing->classes.items[comparing->sums.count - 1];
	}
	struct rcore_diff_sum *sum = &comparing->sums.items[klass].sides[comparing->side];
	uint64_t bytes = rcore_heap_bytes(heap, node);
	sum->count++;
	sum->bytes += bytes;
	sum = &comparing->diff->sides[comparing->side].sum;
	sum->count++;
	sum->bytes += bytes;
	return NULL;
}

/* The address of an anonymous class differs from process to process. */
static const char *common_name(const char *name)
{
	if (strncmp(name, "#<Class:0x", 10) == 0)
		return "(anonymous class)";
	return strncmp(name, "#<Module:0x", 11) == 0 ? "(anonymous module)" : name;
}

/* On a path, a class or module stands for itself: "Module App". */
static struct rcore_error *number_step(struct comparing *comparing,
				       struct rcore_heap_namer *namer, uint32_t node,
				       uint32_t *ret)
{
	struct rcore_heap_object object;
	struct rcore_error *err = rcore_heap_describe(namer, node, &object);
	if (err || !object.name)
		return err;
	const char *text = rcore_arena_printf(namer->arena, "%s %s", object.klass,
					      common_name(object.name));
	return text ? number_of(&comparing->classes, text, ret) : rcore_error_no_memory();
}

/* Replaces this heap's class numbers by common ones, for reachable nodes. */
static struct rcore_error *number_classes(struct comparing *comparing,
					  struct rcore_heap_namer *namer,
					  const struct rcore_heap_paths *paths, uint32_t *ret)
{
	struct rcore_error *err = NULL;
	for (uint32_t i = 0; i < paths->count && !err; i++) {
		uint32_t node = paths->order[i], own;
		err = rcore_heap_class_number(namer, node, &own);
		if (!err)
			err = number_of(&comparing->classes,
					common_name(namer->classes.items[own]), &ret[node]);
		if (!err)
			err = add_to_class(comparing, namer->heap, node, ret[node]);
		uint8_t type = namer->heap->type[node];
		if (!err && (type == RCORE_T_CLASS || type == RCORE_T_MODULE))
			err = number_step(comparing, namer, node, &ret[node]);
	}
	return err;
}

static struct rcore_error *add_side(struct rcore_heap_namer *namer, void *context)
{
	struct comparing *comparing = context;
	const struct rcore_heap *heap = namer->heap;
	namer->is_raw = true;
	struct rcore_heap_paths paths = {0};
	uint32_t *klass = rcore_calloc(heap->node_count, sizeof(*klass));
	uint32_t *names = rcore_calloc(heap->name_count, sizeof(*names));
	struct rcore_error *err =
		klass && names ? rcore_heap_paths_init(heap, &paths) : rcore_error_no_memory();
	if (!err)
		err = number_names(comparing, namer, names);
	if (!err)
		err = number_classes(comparing, namer, &paths, klass);
	const struct rcore_trail_heap trail_heap = {&paths, klass, names};
	if (!err)
		err = rcore_trails_add(&comparing->trails, &trail_heap, comparing->side, NULL);
	if (!err)
		err = rcore_heap_describe_gaps(namer,
					       &comparing->diff->sides[comparing->side].gaps);
	if (!err)
		err = rcore_heap_origin(namer, &comparing->origins[comparing->side]);
	rcore_heap_paths_deinit(&paths);
	free(klass);
	free(names);
	return err;
}

static int compare_classes(const void *a, const void *b)
{
	const struct rcore_diff_class *x = a, *y = b;
	uint64_t more_x = x->sides[1].bytes - x->sides[0].bytes;
	uint64_t more_y = y->sides[1].bytes - y->sides[0].bytes;
	return more_x != more_y ? (more_x < more_y ? 1 : -1) : strcmp(x->name, y->name);
}

static bool has_grown(const struct rcore_diff_class *klass, size_t sides)
{
	for (size_t side = 1; side < sides; side++)
		if (klass->sides[side].bytes <= klass->sides[side - 1].bytes)
			return false;
	return true;
}

static struct rcore_error *describe_step(struct rcore_heap_namer *namer,
					 const struct comparing *comparing, uint32_t trail,
					 struct rcore_diff_step *ret)
{
	const struct rcore_trail *item = &comparing->trails.items[trail];
	ret->klass = comparing->classes.items[item->klass];
	struct rcore_error *err = rcore_heap_redact(namer, RCORE_PART_NAME, &ret->klass);
	if (err)
		return err;
	if (item->before == RCORE_HEAP_NONE)
		return rcore_heap_describe_root(namer, rcore_edge_kind(item->step),
						rcore_edge_number(item->step), &ret->how);
	return rcore_heap_describe_step(namer, item->step, &ret->how);
}

static struct rcore_error *describe_growth(struct rcore_heap_namer *namer,
					   const struct comparing *comparing,
					   const struct rcore_growth *growth,
					   struct rcore_diff_growth *ret)
{
	const struct rcore_trail *items = comparing->trails.items;
	struct rcore_error *err = NULL;
	*ret = (struct rcore_diff_growth){
		.count = growth->count,
		.bytes = growth->bytes,
		.followers = growth->followers,
	};
	for (size_t side = 0; side < comparing->diff->side_count; side++)
		ret->sides[side] =
			(struct rcore_diff_sum){items[growth->trail].sides[side].count,
						items[growth->trail].sides[side].bytes};
	for (uint32_t at = growth->trail; at != RCORE_HEAP_NONE; at = items[at].before)
		ret->step_count++;
	ret->steps = rcore_arena_array(namer->arena, ret->step_count, sizeof(*ret->steps));
	if (!ret->steps)
		return rcore_error_no_memory();
	uint32_t at = growth->trail;
	for (size_t i = ret->step_count; i-- > 0 && !err; at = items[at].before)
		err = describe_step(namer, comparing, at, &ret->steps[i]);
	return err;
}

static struct rcore_error *list_classes(struct rcore_heap_namer *namer,
					struct comparing *comparing, size_t limit)
{
	struct rcore_heap_diff *diff = comparing->diff;
	struct rcore_error *err = NULL;
	diff->classes =
		rcore_arena_array(&diff->arena, comparing->sums.count, sizeof(*diff->classes));
	if (!diff->classes)
		return rcore_error_no_memory();
	for (size_t i = 0; i < comparing->sums.count; i++)
		if (has_grown(&comparing->sums.items[i], diff->side_count))
			diff->classes[diff->all_classes++] = comparing->sums.items[i];
	qsort(diff->classes, diff->all_classes, sizeof(*diff->classes), compare_classes);
	size_t count = diff->all_classes < limit ? diff->all_classes : limit;
	for (; diff->class_count < count && !err; diff->class_count++)
		err = rcore_heap_redact(namer, RCORE_PART_NAME,
					&diff->classes[diff->class_count].name);
	return err;
}

static struct rcore_error *list_growths(struct rcore_heap_namer *namer,
					struct comparing *comparing, size_t limit)
{
	struct rcore_heap_diff *diff = comparing->diff;
	struct rcore_growths growths;
	struct rcore_error *err =
		rcore_trails_growth(&comparing->trails, (unsigned)diff->side_count, &growths);
	if (err)
		return err;
	diff->all_growths = growths.count;
	size_t count = growths.count < limit ? growths.count : limit;
	diff->growths = rcore_arena_array(&diff->arena, count, sizeof(*diff->growths));
	if (!diff->growths)
		err = rcore_error_no_memory();
	for (; !err && diff->growth_count < count; diff->growth_count++)
		err = describe_growth(namer, comparing, &growths.items[diff->growth_count],
				      &diff->growths[diff->growth_count]);
	free(growths.items);
	return err;
}

/*
 * What an extension allocates is not in the bytes of its objects, and a leak in
 * C belongs to no object.
 */
static struct rcore_error *add_c_memory(struct comparing *comparing,
					const struct rcore_session *session)
{
	struct rcore_heap_diff *diff = comparing->diff;
	struct rcore_malloc heap = {0};
	struct rcore_error *err = rcore_session_malloc(&session->target, &heap);
	if (!err && heap.is_known) {
		const struct rcore_chunk_sum *used = &heap.sums[RCORE_CHUNK_USED];
		struct rcore_diff_sum *sum = rcore_arena_alloc(&diff->arena, sizeof(*sum));
		if (sum)
			*sum = (struct rcore_diff_sum){used->count, used->bytes};
		else
			err = rcore_error_no_memory();
		diff->sides[comparing->side].c_memory = sum;
	}
	rcore_malloc_deinit(&heap);
	return err;
}

static struct rcore_error *compare(struct comparing *comparing,
				   struct rcore_session *const *sessions, size_t limit)
{
	struct rcore_heap_diff *diff = comparing->diff;
	struct rcore_error *err = NULL;
	for (; comparing->side < diff->side_count && !err; comparing->side++) {
		struct rcore_session *session = sessions[comparing->side];
		const char *source = session->target.process->source;
		struct rcore_diff_side *side = &diff->sides[comparing->side];
		side->source = rcore_arena_strdup(&diff->arena, source ? source : "");
		err = side->source
			      ? rcore_session_graph(session, &diff->arena, add_side, comparing)
			      : rcore_error_no_memory();
		if (!err)
			err = add_c_memory(comparing, session);
		/* Errors of a running process name it already. */
		if (err && !session->target.live)
			err = rcore_error_wrap(err, "%s", source ? source : "core");
	}
	diff->is_cut = comparing->trails.is_cut;
	/* All names are numbers of `names` now. */
	const struct rcore_heap names = {.names = comparing->names.items,
					 .name_count = (uint32_t)comparing->names.count};
	struct rcore_heap_namer namer = {.heap = &names,
					 .redactor = sessions[0]->redactor,
					 .redaction = &diff->redaction,
					 .arena = &diff->arena};
	/* A name of one core may contain a secret of another core. */
	for (size_t side = 1; side < diff->side_count && !err; side++)
		err = rcore_redact_join(sessions[0]->redactor, sessions[side]->redactor);
	for (size_t side = 1; side < diff->side_count && !err; side++)
		err = rcore_heap_doubt(&namer, &comparing->origins[side - 1],
				       &comparing->origins[side], &diff->sides[side].doubt);
	if (!err)
		err = list_classes(&namer, comparing, limit);
	return err ? err : list_growths(&namer, comparing, limit);
}

struct rcore_error *rcore_heap_diff(struct rcore_session *const *sessions, size_t count,
				    size_t limit, struct rcore_heap_diff **ret)
{
	struct rcore_heap_diff *diff = calloc(1, sizeof(*diff));
	if (!diff)
		return rcore_error_no_memory();
	struct comparing comparing = {.diff = diff};
	diff->side_count = count;
	diff->redaction.mode = sessions[0]->settings.redact;
	struct rcore_error *err = compare(&comparing, sessions, limit);
	rcore_trails_deinit(&comparing.trails);
	texts_deinit(&comparing.classes);
	texts_deinit(&comparing.names);
	free(comparing.sums.items);
	if (err)
		rcore_heap_diff_free(diff);
	else
		*ret = diff;
	return err;
}

void rcore_heap_diff_free(struct rcore_heap_diff *diff)
{
	if (!diff)
		return;
	rcore_arena_deinit(&diff->arena);
	free(diff);
}
