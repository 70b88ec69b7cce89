/* SPDX-License-Identifier: MIT */
#include "session/heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "report/heap.h"
#include "ruby/children/graph.h"
#include "ruby/children/line.h"
#include "session/heap/heap_graph.h"
#include "session/heap/malloc.h"
#include "session/session.h"

struct dump {
	struct rcore_session *session;
	FILE *out;
	struct rcore_arena arena;
	struct rcore_heap_dumped *dumped;
};

/* A text may end at a NUL in a redacted line. */
static struct rcore_error *redact(struct dump *dump, struct rcore_heap_line *line)
{
	if (!dump->session->settings.redact)
		return NULL;
	for (size_t i = 0; i < line->attribute_count; i++) {
		struct rcore_attribute *attribute = &line->attributes[i];
		if (attribute->kind != RCORE_ATTRIBUTE_TEXT &&
		    attribute->kind != RCORE_ATTRIBUTE_NAME)
			continue;
		attribute->text =
			rcore_arena_strndup(&dump->arena, attribute->text, attribute->length);
		if (!attribute->text)
			return rcore_error_no_memory();
		struct rcore_error *err = rcore_redact_text(
			dump->session->redactor, &dump->arena,
			attribute->kind == RCORE_ATTRIBUTE_NAME ? RCORE_PART_NAME
								: RCORE_PART_TEXT,
			NULL, &attribute->text);
		if (err)
			return err;
		attribute->length = strlen(attribute->text);
	}
	return NULL;
}

static struct rcore_error *write_line(void *context, struct rcore_heap_line *line)
{
	struct dump *dump = context;
	struct rcore_error *err = redact(dump, line);
	if (!err)
		err = rcore_report_heap_line(line, dump->out);
	rcore_arena_deinit(&dump->arena);
	dump->dumped->lines++;
	dump->dumped->partial += line->is_partial;
	return err;
}

/* The categories of gc_mark_roots() of gc.c. */
static const struct {
	const char *category;
	unsigned kinds; /* bits: enum rcore_root_kind */
} categories[] = {
	{"vm", 1 << RCORE_ROOT_VM | 1 << RCORE_ROOT_THREAD},
	{"finalizers", 1 << RCORE_ROOT_FINALIZER},
	{"end_proc", 1 << RCORE_ROOT_ENDING},
	{"machine_context", 1 << RCORE_ROOT_MACHINE},
	{"global_list", 1 << RCORE_ROOT_REGISTERED},
	{"global_tbl", 1 << RCORE_ROOT_GLOBAL},
	{"global_symbols", 1 << RCORE_ROOT_SYMBOL},
};

static void set_word(struct rcore_heap_line *line, const char *key, const char *text)
{
	line->attributes[line->attribute_count++] = (struct rcore_attribute){
		.key = key,
		.kind = RCORE_ATTRIBUTE_WORD,
		.text = text,
		.length = strlen(text),
	};
}

static struct rcore_error *write_category(struct dump *dump, const struct rcore_heap *heap,
					  size_t category)
{
	struct rcore_heap_line line = {0};
	struct rcore_error *err = NULL;
	set_word(&line, "type", "ROOT");
	set_word(&line, "root", categories[category].category);
	for (size_t i = 0; i < heap->root_count && !err; i++) {
		const struct rcore_heap_root *root = &heap->roots[i];
		if (!(categories[category].kinds >> root->kind & 1))
			continue;
		if (!rcore_grow((void **)&line.references, line.reference_count,
				&line.reference_capacity, sizeof(*line.references))) {
			err = rcore_error_no_memory();
			break;
		}
		line.references[line.reference_count++] = rcore_heap_address(heap, root->node);
		line.is_opaque |= root->is_conservative;
	}
	if (!err && line.reference_count)
		err = rcore_report_heap_line(&line, dump->out);
	free(line.references);
	return err;
}

static struct rcore_error *write_roots(struct dump *dump, struct rcore_ruby *ruby, uint64_t vm,
				       uint64_t objspace)
{
	struct rcore_heap heap = {0};
	struct rcore_error *err = rcore_graph_slots(ruby, objspace, &heap);
	if (!err)
		err = rcore_session_roots(dump->session, ruby, vm, objspace, &heap);
	for (size_t i = 0; i < RCORE_COUNT(categories) && !err; i++)
		err = write_category(dump, &heap, i);
	dump->dumped->partial += heap.problem[0] != '\0';
	rcore_heap_deinit(&heap);
	return err;
}

static struct rcore_error *run(struct rcore_session *session, struct rcore_ruby *ruby,
			       uint64_t vm, uint64_t objspace, void *context)
{
	struct dump *dump = context;
	struct rcore_chunk_sizes chunks;
	struct rcore_error *err = rcore_session_chunk_sizes(&session->target, &chunks);
	ruby->chunks = &chunks;
	if (!err)
		err = write_roots(dump, ruby, vm, objspace);
	if (!err)
		err = rcore_heap_lines(ruby, objspace, write_line, dump,
				       &dump->dumped->absent_pages);
	ruby->chunks = NULL;
	rcore_malloc_deinit(&chunks.heap);
	return err;
}

struct rcore_error *rcore_heap_dump(struct rcore_session *session, FILE *out,
				    struct rcore_heap_dumped *ret)
{
	struct dump dump = {.session = session, .out = out, .dumped = ret};
	*ret = (struct rcore_heap_dumped){0};
	struct rcore_error *err = rcore_heap_prepare(session);
	return err ? err : rcore_session_heap(session, run, &dump);
}
