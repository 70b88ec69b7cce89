/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/page_buffer.h"
#include "ruby/children/graph.h"
#include "ruby/heap/heap.h"
#include "ruby/object/id_table.h"
#include "ruby/symbol/id.h"
#include "target/core/core.h"

enum { PAGE_LIMIT = 64 << 10 };

/* A name by its ID, its serial number or its static text. */
struct name {
	uint64_t key; /* 0: a free place */
	uint32_t index;
	uint8_t space;
};

enum name_space { OF_ID = 1, OF_SERIAL, OF_TEXT };

/*
 * The memory of the target, and a copy of the page whose objects are being
 * read. Most of what decoders read of an object is in its slot.
 */
struct window {
	struct rcore_memory memory;
	struct rcore_memory *below;
	uint64_t start;
	size_t size;
	unsigned char *bytes; /* PAGE_LIMIT */
};

struct edges {
	struct rcore_ruby *ruby;
	struct rcore_heap *heap;
	struct rcore_children children;
	/* Spans by address: open addressing, of address / align; size: 2^n. */
	uint32_t *span_at;
	size_t span_places;
	uint64_t align;
	struct name *names;
	size_t name_places;
	size_t name_capacity;
	uint64_t edge_capacity;
	size_t dangling_capacity;
	uint32_t node; /* whose references are being read */
	struct rcore_error *err;
};

static enum rcore_fault read_window(struct rcore_memory *memory, uint64_t address, void *buffer,
				    size_t size)
{
	const struct window *window = (const struct window *)memory;
	const uint64_t offset = address - window->start;
	if (offset >= window->size || size > window->size - offset)
		return rcore_read(window->below, address, buffer, size);
	/* Most reads are of one word, which needs no call. */
	if (size == sizeof(uint64_t))
		memcpy(buffer, window->bytes + offset, sizeof(uint64_t));
	else
		memcpy(buffer, window->bytes + offset, size);
	return RCORE_FAULT_NONE;
}

/* Returns false if the page cannot be read. */
static bool move_window(struct window *window, const struct rcore_heap_span *span)
{
	size_t bytes = (size_t)span->slot_count * span->slot_size;
	window->size = 0;
	if (span->is_absent || bytes > PAGE_LIMIT ||
	    rcore_read(window->below, span->start, window->bytes, bytes))
		return false;
	window->start = span->start;
	window->size = bytes;
	return true;
}

static size_t mix(uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 24);
}

static struct rcore_error *index_spans(struct edges *edges)
{
	const struct rcore_heap *heap = edges->heap;
	edges->span_places = 1024;
	while (edges->span_places < heap->span_count * 2)
		edges->span_places *= 2;
	edges->span_at = malloc(edges->span_places * sizeof(*edges->span_at));
	if (!edges->span_at)
		return rcore_error_no_memory();
	memset(edges->span_at, 0xff, edges->span_places * sizeof(*edges->span_at));
	for (size_t i = 0; i < heap->span_count; i++) {
		size_t at = mix(heap->spans[i].start / edges->align) & (edges->span_places - 1);
		while (edges->span_at[at] != UINT32_MAX)
			at = (at + 1) & (edges->span_places - 1);
		edges->span_at[at] = (uint32_t)i;
	}
	return NULL;
}

static uint32_t node_at(struct edges *edges, uint64_t address)
{
	const struct rcore_heap *heap = edges->heap;
	uint64_t page = address / edges->align;
	size_t at = mix(page) & (edges->span_places - 1);
	for (; edges->span_at[at] != UINT32_MAX; at = (at + 1) & (edges->span_places - 1)) {
		const struct rcore_heap_span *span = &heap->spans[edges->span_at[at]];
		if (span->start / edges->align != page)
			continue;
		if (address < span->start)
			return RCORE_HEAP_NONE;
		uint32_t offset = (uint32_t)(address - span->start);
		uint32_t slot = offset / span->slot_size;
		if (slot >= span->slot_count || slot * span->slot_size != offset)
			return RCORE_HEAP_NONE;
		return span->first_node + slot;
	}
	return RCORE_HEAP_NONE;
}

/* Adds a text; the name 0, "", if memory is short. */
static uint32_t add_text(struct edges *edges, const char *text)
{
	struct rcore_heap *heap = edges->heap;
	char *copy = strdup(text);
	if (!copy || !rcore_grow((void **)&heap->names, heap->name_count, &edges->name_capacity,
				 sizeof(*heap->names))) {
		free(copy);
		return 0;
	}
	heap->names[heap->name_count] = copy;
	return heap->name_count++;
}

static bool enlarge_names(struct edges *edges)
{
	size_t places = edges->name_places ? edges->name_places * 2 : 4096;
	struct name *names = calloc(places, sizeof(*names));
	if (!names)
		return false;
	for (size_t i = 0; i < edges->name_places; i++) {
		if (!edges->names[i].key)
			continue;
		size_t at = mix(edges->names[i].key) & (places - 1);
		while (names[at].key)
			at = (at + 1) & (places - 1);
		names[at] = edges->names[i];
	}
	free(edges->names);
	edges->names = names;
	edges->name_places = places;
	return true;
}

static uint32_t make_name(struct edges *edges, enum name_space space, uint64_t key)
{
	const char *text = NULL;
	struct rcore_error *err = NULL;
	if (space == OF_TEXT)
		text = (const char *)(uintptr_t)key;
	else if (space == OF_ID)
		err = rcore_id_name(edges->ruby, key, &text);
	else
		err = rcore_serial_name(edges->ruby, key, &text);
	rcore_error_free(err);
	return err || !text ? 0 : add_text(edges, text);
}

static uint32_t name_of(struct edges *edges, enum name_space space, uint64_t key)
{
	if (!key ||
	    (edges->heap->name_count * 2 >= edges->name_places && !enlarge_names(edges)))
		return 0;
	size_t at = mix(key) & (edges->name_places - 1);
	while (edges->names[at].key &&
	       (edges->names[at].key != key || edges->names[at].space != space))
		at = (at + 1) & (edges->name_places - 1);
	if (!edges->names[at].key) {
		uint32_t index = make_name(edges, space, key);
		if (!index)
			/* not kept: names without text would fill the table */
			return 0;
		edges->names[at] = (struct name){key, index, (uint8_t)space};
	}
	return edges->names[at].index;
}

static uint64_t number_of(struct edges *edges, const struct rcore_child *child)
{
	switch (child->kind) {
	case RCORE_EDGE_FIELD:
		return name_of(edges, OF_TEXT, (uint64_t)(uintptr_t)child->name);
	case RCORE_EDGE_IVAR:
	case RCORE_EDGE_LOCAL:
		return name_of(edges, OF_ID, child->number);
	case RCORE_EDGE_CONSTANT:
	case RCORE_EDGE_CVAR:
	case RCORE_EDGE_METHOD:
		return name_of(edges, OF_SERIAL, child->number);
	case RCORE_EDGE_FIBER_LOCAL:
		return name_of(edges,
			       edges->ruby->layout->traits.local_storage_is_st ? OF_ID
									       : OF_SERIAL,
			       child->number);
	default:
		return child->number;
	}
}

static void add_dangling(struct edges *edges, const struct rcore_child *child)
{
	struct rcore_heap *heap = edges->heap;
	if (heap->dangling_edges++ >= RCORE_DANGLING_LIMIT)
		return;
	if (!rcore_grow((void **)&heap->dangling, heap->dangling_count,
			&edges->dangling_capacity, sizeof(*heap->dangling))) {
		edges->err = edges->err ? edges->err : rcore_error_no_memory();
		return;
	}
	heap->dangling[heap->dangling_count++] = (struct rcore_heap_dangling){
		edges->node, rcore_edge_label(child->kind, number_of(edges, child)),
		child->value};
}

static void add_edge(void *context, const struct rcore_child *child)
{
	struct edges *edges = context;
	struct rcore_heap *heap = edges->heap;
	uint32_t node = node_at(edges, child->value);
	if (node == RCORE_HEAP_NONE || heap->type[node] == RCORE_T_NONE) {
		if (child->kind != RCORE_EDGE_CONSERVATIVE)
			add_dangling(edges, child);
		return;
	}
	if (edges->err)
		return;
	if (heap->edge_count == edges->edge_capacity) {
		uint64_t capacity = edges->edge_capacity + edges->edge_capacity / 2 + 4096;
		if (capacity > UINT32_MAX)
			capacity = UINT32_MAX;
		if (heap->edge_count >= capacity) {
			edges->err = rcore_error_create(RCORE_ERROR_LIMIT,
							"the heap has more than 2^32 "
							"references");
			return;
		}
		void *target = rcore_realloc(heap->target, capacity, sizeof(*heap->target));
		heap->target = target ? target : heap->target;
		void *label = rcore_realloc(heap->label, capacity, sizeof(*heap->label));
		heap->label = label ? label : heap->label;
		if (!target || !label) {
			edges->err = rcore_error_no_memory();
			return;
		}
		edges->edge_capacity = capacity;
	}
	heap->target[heap->edge_count] = node;
	heap->label[heap->edge_count] = rcore_edge_label(child->kind, number_of(edges, child));
	heap->edge_count++;
}

/*
 * The class first, as model/heap/heap.h demands: generic instance variables
 * precede it.
 */
static void put_class_first(struct rcore_heap *heap, uint32_t first)
{
	for (uint32_t i = first; i < heap->edge_count; i++) {
		if (rcore_edge_kind(heap->label[i]) != RCORE_EDGE_CLASS)
			continue;
		uint32_t target = heap->target[first], label = heap->label[first];
		heap->target[first] = heap->target[i];
		heap->label[first] = heap->label[i];
		heap->target[i] = target;
		heap->label[i] = label;
		return;
	}
}

static void add_span(struct edges *edges, const struct rcore_heap_span *span,
		     struct window *window)
{
	struct rcore_heap *heap = edges->heap;
	bool read = move_window(window, span);
	for (uint32_t i = 0; i < span->slot_count && !edges->err; i++) {
		uint32_t node = span->first_node + i, first = heap->edge_count;
		heap->first_edge[node] = first;
		edges->node = node;
		if (!read || heap->type[node] == RCORE_T_NONE)
			continue;
		rcore_children_of(&edges->children, span->start + (uint64_t)i * span->slot_size,
				  window->bytes + (size_t)i * span->slot_size, span->slot_size);
		heap->state[node] |= edges->children.state;
		put_class_first(heap, first);
	}
}

static struct rcore_error *add_all(struct edges *edges)
{
	struct rcore_heap *heap = edges->heap;
	struct window window = {.memory.read = read_window,
				.below = edges->ruby->memory,
				.bytes = rcore_page_buffer(PAGE_LIMIT)};
	heap->first_edge =
		rcore_calloc((size_t)heap->node_count + 1, sizeof(*heap->first_edge));
	if (!window.bytes || !heap->first_edge)
		edges->err = rcore_error_no_memory();
	edges->ruby->memory = &window.memory;
	for (size_t i = 0; i < heap->span_count && !edges->err; i++) {
		add_span(edges, &heap->spans[i], &window);
		rcore_graph_release(edges->ruby, i);
	}
	rcore_core_release_pages(edges->ruby->core);
	if (!edges->err)
		heap->first_edge[heap->node_count] = heap->edge_count;
	edges->ruby->memory = window.below;
	free(window.bytes);
	return edges->err;
}

struct rcore_error *rcore_graph_edges(struct rcore_ruby *ruby, struct rcore_heap *heap)
{
	struct edges edges = {
		.ruby = ruby,
		.heap = heap,
		.align = ruby->layout->traits.heap_page_align,
	};
	struct rcore_error *err = rcore_children_init(&edges.children, ruby, add_edge, &edges);
	if (!err && !heap->name_count)
		add_text(&edges, "");
	if (!err && !heap->name_count)
		err = rcore_error_no_memory();
	if (!err)
		err = index_spans(&edges);
	if (!err)
		err = add_all(&edges);
	rcore_children_deinit(&edges.children);
	free(edges.span_at);
	free(edges.names);
	return err;
}
