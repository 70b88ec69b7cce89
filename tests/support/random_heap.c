/* SPDX-License-Identifier: MIT */
#include "random_heap.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void *needed(void *memory)
{
	ck_assert_ptr_nonnull(memory);
	return memory;
}

static void add_name(struct rcore_heap *heap, const char *name)
{
	heap->names = needed(reallocarray(heap->names, heap->name_count + 1, sizeof(char *)));
	heap->names[heap->name_count++] = needed(strdup(name));
}

void heap_builder_init(struct heap_builder *builder, uint32_t nodes, uint32_t page)
{
	static const uint32_t slot_sizes[] = {40, 80, 160, 320, 640};
	memset(builder, 0, sizeof(*builder));
	struct rcore_heap *heap = &builder->heap;
	heap->node_count = nodes;
	heap->span_count = (nodes + page - 1) / page;
	heap->spans = needed(rcore_calloc(heap->span_count, sizeof(*heap->spans)));
	for (size_t i = 0; i < heap->span_count; i++) {
		uint32_t first = (uint32_t)i * page;
		heap->spans[i] = (struct rcore_heap_span){
			.start = 0x7f0000000040 + i * 0x10000000,
			.first_node = first,
			.slot_count = nodes - first < page ? nodes - first : page,
			.slot_size = slot_sizes[i % 5],
		};
	}
	heap->type = needed(rcore_calloc(nodes, 1));
	heap->state = needed(rcore_calloc(nodes, 1));
	heap->extra = needed(rcore_calloc(nodes, sizeof(*heap->extra)));
	heap->first_edge = needed(rcore_calloc(nodes, sizeof(*heap->first_edge)));
	heap->large = needed(rcore_calloc(nodes / 10 + 1, sizeof(*heap->large)));
	for (uint32_t i = 0; i < nodes; i++) {
		heap->type[i] = 1;
		heap->extra[i] = i % 3 ? i % 1000 : 0;
		if (i % 10 != 7)
			continue;
		heap->extra[i] = UINT32_MAX;
		heap->large[heap->large_count].node = i;
		heap->large[heap->large_count++].bytes = (UINT64_C(5) << 30) + i;
	}
	add_name(heap, "");
}

void heap_builder_edge(struct heap_builder *builder, uint32_t from, uint32_t to, uint32_t label)
{
	struct heap_edge *edge = needed(rcore_push(&builder->edges));
	*edge = (struct heap_edge){from, to, label};
	/* Those of the VM's own objects, such as threads, are not opaque. */
	if (rcore_edge_kind(label) == RCORE_EDGE_CONSERVATIVE && from % 2)
		builder->heap.state[from] |= RCORE_HEAP_OPAQUE;
}

void heap_builder_root(struct heap_builder *builder, uint32_t node, enum rcore_root_kind kind,
		       const char *name)
{
	struct rcore_heap *heap = &builder->heap;
	uint32_t index = 0;
	while (index < heap->name_count && strcmp(heap->names[index], name) != 0)
		index++;
	if (index == heap->name_count)
		add_name(heap, name);
	ck_assert(rcore_grow((void **)&heap->roots, heap->root_count, &builder->root_capacity,
			     sizeof(*heap->roots)));
	heap->roots[heap->root_count++] = (struct rcore_heap_root){
		.node = node,
		.kind = (uint8_t)kind,
		.is_conservative = kind == RCORE_ROOT_MACHINE,
		.name = index,
	};
}

void heap_builder_finish(struct heap_builder *builder)
{
	struct rcore_heap *heap = &builder->heap;
	heap->edge_count = (uint32_t)builder->edges.count;
	heap->target = needed(rcore_calloc(heap->edge_count, sizeof(*heap->target)));
	heap->label = needed(rcore_calloc(heap->edge_count, sizeof(*heap->label)));
	uint32_t *next = needed(rcore_calloc(heap->node_count, sizeof(*next)));
	for (uint32_t i = 0; i < heap->edge_count; i++)
		next[builder->edges.items[i].from]++;
	for (uint32_t node = 0; node < heap->node_count; node++) {
		heap->first_edge[node + 1] = heap->first_edge[node] + next[node];
		next[node] = heap->first_edge[node];
	}
	for (uint32_t i = 0; i < heap->edge_count; i++) {
		const struct heap_edge *edge = &builder->edges.items[i];
		heap->label[next[edge->from]] = edge->label;
		heap->target[next[edge->from]++] = edge->to;
	}
	free(next);
}

void heap_builder_deinit(struct heap_builder *builder)
{
	free(builder->edges.items);
	rcore_heap_deinit(&builder->heap);
}

void heap_builder_draw(struct heap_builder *builder, uint64_t *seed, uint32_t most)
{
	static const char *const names[] = {"", "$a", "$b", "T1 frame 2: x"};
	uint32_t nodes = 1 + random_below(seed, most);
	heap_builder_init(builder, nodes, 1 + random_below(seed, 20));
	/* From trees to nearly complete graphs. */
	uint32_t edges = random_below(seed, 2 + nodes * (1 + random_below(seed, 5)));
	for (uint32_t i = 0; i < edges; i++) {
		uint32_t from = random_below(seed, nodes), to = random_below(seed, nodes);
		/* Long chains, too. */
		if (random_below(seed, 3) == 0)
			to = (from + 1) % nodes;
		heap_builder_edge(builder, from, to,
				  rcore_edge_label(random_below(seed, RCORE_EDGE_KINDS), i));
	}
	for (uint32_t i = random_below(seed, 6); i-- > 0;)
		heap_builder_root(builder, random_below(seed, nodes),
				  random_below(seed, RCORE_ROOT_KINDS),
				  names[random_below(seed, 4)]);
	heap_builder_finish(builder);
}
