/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_export.h"

#include <stdlib.h>

#include "base/grow.h"
#include "ruby/object/value.h"
#include "session/heap/heap_graph.h"

struct exporting {
	rcore_heap_pprof *write_pprof; /* NULL: write a snapshot */
	FILE *out;
	struct rcore_heap_export export;
	uint32_t *title;
	const char **steps, **roots;
	/* Titles of classes and modules themselves; all others are classes'. */
	struct {
		const char **items;
		size_t count, capacity;
	} own;
	bool is_partial;
};

/*
 * Classes have numbers of the namer. A class or module itself gets a number
 * from the top down, as the namer has more classes later.
 */
static struct rcore_error *number_title(struct exporting *exporting,
					struct rcore_heap_namer *namer, uint32_t node)
{
	uint8_t type = namer->heap->type[node];
	struct rcore_heap_object object;
	if (type != RCORE_T_CLASS && type != RCORE_T_MODULE)
		return rcore_heap_class_number(namer, node, &exporting->title[node]);
	struct rcore_error *err = rcore_heap_describe(namer, node, &object);
	if (err)
		return err;
	const char **own = rcore_push(&exporting->own);
	if (!own)
		return rcore_error_no_memory();
	*own = object.name
		       ? rcore_arena_printf(namer->arena, "%s %s", object.klass, object.name)
		       : object.klass;
	exporting->title[node] = RCORE_HEAP_NONE - (uint32_t)exporting->own.count;
	return *own ? NULL : rcore_error_no_memory();
}

static struct rcore_error *number_titles(struct exporting *exporting,
					 struct rcore_heap_namer *namer,
					 const struct rcore_heap_paths *paths)
{
	struct rcore_heap_export *export = &exporting->export;
	struct rcore_error *err = NULL;
	for (uint32_t i = 0; i < paths->count && !err; i++)
		err = number_title(exporting, namer, paths->order[i]);
	if (err)
		return err;
	const size_t classes = namer->classes.count, count = classes + exporting->own.count;
	const char **titles = rcore_arena_array(namer->arena, count, sizeof(*titles));
	if (!titles)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++)
		titles[i] = i < classes ? namer->classes.items[i]
					: exporting->own.items[i - classes];
	for (uint32_t i = 0; i < paths->count; i++) {
		uint32_t *title = &exporting->title[paths->order[i]];
		if (*title >= classes)
			*title = (uint32_t)classes + (RCORE_HEAP_NONE - *title) - 1;
	}
	export->title = exporting->title;
	export->titles = titles;
	export->title_count = (uint32_t)count;
	return NULL;
}

static struct rcore_error *describe_steps(struct exporting *exporting,
					  struct rcore_heap_namer *namer)
{
	const struct rcore_heap *heap = namer->heap;
	struct rcore_error *err = NULL;
	for (uint32_t edge = 0; edge < heap->edge_count && !err; edge++) {
		size_t step = rcore_heap_step(heap, heap->label[edge]);
		if (!exporting->steps[step])
			err = rcore_heap_describe_step(namer, heap->label[edge],
						       &exporting->steps[step]);
	}
	return err;
}

static struct rcore_error *describe_roots(struct exporting *exporting,
					  struct rcore_heap_namer *namer)
{
	const struct rcore_heap *heap = namer->heap;
	struct rcore_error *err = NULL;
	for (unsigned kind = 0; kind < RCORE_ROOT_KINDS && !err; kind++)
		err = rcore_heap_describe_root(
			namer, kind, 0, &exporting->roots[(size_t)kind * heap->name_count]);
	for (size_t i = 0; i < heap->root_count && !err; i++) {
		const struct rcore_heap_root *root = &heap->roots[i];
		const char **text =
			&exporting->roots[(size_t)root->kind * heap->name_count + root->name];
		if (!*text)
			err = rcore_heap_describe_root(namer, root->kind, root->name, text);
	}
	return err;
}

static struct rcore_error *make_texts(struct exporting *exporting,
				      struct rcore_heap_namer *namer,
				      const struct rcore_heap_paths *paths)
{
	const struct rcore_heap *heap = namer->heap;
	struct rcore_heap_export *export = &exporting->export;
	export->heap = heap;
	export->step_count = (size_t)RCORE_EDGE_KINDS * heap->name_count;
	export->root_count = (size_t)RCORE_ROOT_KINDS * heap->name_count;
	exporting->title = rcore_calloc(heap->node_count, sizeof(*exporting->title));
	exporting->steps = rcore_calloc(export->step_count, sizeof(*exporting->steps));
	exporting->roots = rcore_calloc(export->root_count, sizeof(*exporting->roots));
	if (!exporting->title || !exporting->steps || !exporting->roots)
		return rcore_error_no_memory();
	export->steps = exporting->steps;
	export->roots = exporting->roots;
	struct rcore_error *err = number_titles(exporting, namer, paths);
	if (!err)
		err = describe_steps(exporting, namer);
	return err ? err : describe_roots(exporting, namer);
}

static struct rcore_error *write_snapshot(const struct exporting *exporting)
{
	struct rcore_heap_walk walk;
	struct rcore_error *err = rcore_heap_walk_init(exporting->export.heap, &walk);
	if (err)
		return err;
	err = rcore_report_heap_snapshot(&exporting->export, &walk, exporting->out);
	rcore_heap_walk_deinit(&walk);
	return err;
}

static struct rcore_error *find_trails(const struct exporting *exporting,
				       const struct rcore_heap_paths *paths,
				       struct rcore_trails *ret)
{
	const struct rcore_heap *heap = exporting->export.heap;
	uint32_t *names = rcore_calloc(heap->name_count, sizeof(*names));
	if (!names)
		return rcore_error_no_memory();
	for (uint32_t i = 0; i < heap->name_count; i++)
		names[i] = i;
	const struct rcore_trail_heap trail_heap = {paths, exporting->title, names};
	struct rcore_error *err = rcore_trails_add(ret, &trail_heap, 0, NULL);
	free(names);
	return err;
}

static struct rcore_error *write_pprof(struct exporting *exporting,
				       const struct rcore_heap_paths *paths)
{
	struct rcore_trails *trails = calloc(1, sizeof(*trails));
	if (!trails)
		return rcore_error_no_memory();
	struct rcore_error *err = find_trails(exporting, paths, trails);
	if (!err)
		err = exporting->write_pprof(&exporting->export, trails, exporting->out);
	exporting->is_partial = trails->is_cut;
	rcore_trails_deinit(trails);
	free(trails);
	return err;
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	struct exporting *exporting = context;
	struct rcore_heap_paths paths;
	struct rcore_heap_gaps gaps = {0};
	struct rcore_error *err = rcore_heap_paths_init(namer->heap, &paths);
	if (err)
		return err;
	err = make_texts(exporting, namer, &paths);
	if (!err && exporting->write_pprof)
		err = write_pprof(exporting, &paths);
	else if (!err)
		err = write_snapshot(exporting);
	if (!err)
		err = rcore_heap_describe_gaps(namer, &gaps);
	exporting->is_partial |= rcore_heap_is_partial(&gaps);
	rcore_heap_paths_deinit(&paths);
	return err;
}

static struct rcore_error *write(struct rcore_session *session, struct exporting *exporting,
				 bool *ret_partial)
{
	struct rcore_arena arena = {0};
	struct rcore_error *err = rcore_session_graph(session, &arena, run, exporting);
	*ret_partial = exporting->is_partial;
	free(exporting->title);
	free(exporting->steps);
	free(exporting->roots);
	free(exporting->own.items);
	rcore_arena_deinit(&arena);
	return err;
}

struct rcore_error *rcore_heap_export_snapshot(struct rcore_session *session, FILE *out,
					       bool *ret_partial)
{
	struct exporting exporting = {.out = out};
	return write(session, &exporting, ret_partial);
}

struct rcore_error *rcore_heap_export_pprof(struct rcore_session *session,
					    rcore_heap_pprof *write_it, FILE *out,
					    bool *ret_partial)
{
	struct exporting exporting = {.out = out, .write_pprof = write_it};
	return write(session, &exporting, ret_partial);
}
