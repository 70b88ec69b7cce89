/* SPDX-License-Identifier: MIT */
/*
 * The slots of all pages, with what the collector notes of each one in the
 * bitmaps of its page (heap_page of gc.c; from 3.4 on, of
 * gc/default/default.c).
 */
#include "ruby/children/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/children/memsize.h"
#include "ruby/children/page_bits.h"
#include "ruby/heap/heap.h"
#include "target/core/core.h"

struct slots {
	struct rcore_ruby *ruby;
	struct rcore_heap *heap;
	size_t span_capacity, large_capacity;
	uint64_t node_capacity;
	struct rcore_slot_only slot_only;
	struct rcore_page_bits bits;
	uint64_t before_sweep; /* of the page that `bits` are of */
	struct rcore_error *err;
};

static uint8_t state_of(const struct slots *slots, uint64_t address, uint64_t flags)
{
	const struct rcore_layout *layout = slots->ruby->layout;
	const struct rcore_page_bits *bits = &slots->bits;
	const uint32_t index = rcore_page_index(bits, address);
	bool marked = rcore_page_bit_at(bits, &layout->heap_page.mark_bits, index);
	uint8_t state = marked ? RCORE_HEAP_MARKED : 0;
	if (slots->before_sweep && !marked)
		state |= RCORE_HEAP_UNSWEPT;
	if (rcore_page_age(bits, address, flags) == RCORE_OLD_AGE)
		state |= RCORE_HEAP_OLD;
	if (!rcore_page_bit_at(bits, &layout->heap_page.wb_unprotected_bits, index))
		state |= RCORE_HEAP_WB_PROTECTED;
	return state;
}

void rcore_graph_release(struct rcore_ruby *ruby, size_t spans)
{
	enum { SPANS = 1024 };
	if (spans % SPANS == 0)
		rcore_core_release_pages(ruby->core);
}

/* Makes room for the slots of one more page. */
static struct rcore_error *grow(struct slots *slots, uint64_t count)
{
	struct rcore_heap *heap = slots->heap;
	uint64_t wanted = (uint64_t)heap->node_count + count;
	if (wanted >= RCORE_HEAP_NONE)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "the heap has more than 2^32 slots");
	if (wanted <= slots->node_capacity)
		return NULL;
	uint64_t capacity = slots->node_capacity * 2;
	if (capacity < wanted)
		capacity = wanted;
	void *type = rcore_realloc(heap->type, capacity, sizeof(*heap->type));
	heap->type = type ? type : heap->type;
	void *state = rcore_realloc(heap->state, capacity, sizeof(*heap->state));
	heap->state = state ? state : heap->state;
	void *extra = rcore_realloc(heap->extra, capacity, sizeof(*heap->extra));
	heap->extra = extra ? extra : heap->extra;
	if (!type || !state || !extra)
		return rcore_error_no_memory();
	slots->node_capacity = capacity;
	return NULL;
}

static struct rcore_error *set_extra(struct slots *slots, uint32_t node, uint64_t bytes)
{
	struct rcore_heap *heap = slots->heap;
	heap->extra[node] = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	if (bytes < UINT32_MAX)
		return NULL;
	if (!rcore_grow((void **)&heap->large, heap->large_count, &slots->large_capacity,
			sizeof(*heap->large)))
		return rcore_error_no_memory();
	heap->large[heap->large_count++] = (struct rcore_heap_large){node, bytes};
	return NULL;
}

static struct rcore_error *add_slot(struct slots *slots, uint32_t node, uint64_t address,
				    const unsigned char *copy, size_t size)
{
	struct rcore_heap *heap = slots->heap;
	uint64_t flags, bytes = 0;
	memcpy(&flags, copy, sizeof(flags));
	heap->type[node] = flags & RCORE_T_MASK;
	heap->state[node] = 0;
	heap->extra[node] = 0;
	if (!rcore_type_is_used(flags & RCORE_T_MASK)) {
		heap->type[node] = RCORE_T_NONE;
		return NULL;
	}
	heap->state[node] = state_of(slots, address, flags);
	if (heap->state[node] & RCORE_HEAP_UNSWEPT) {
		heap->type[node] = RCORE_T_NONE;
		return NULL;
	}
	if (!rcore_is_slot_only(&slots->slot_only, flags) &&
	    !rcore_memsize(slots->ruby, address, copy, size, &bytes))
		heap->state[node] |= RCORE_HEAP_SIZE_UNKNOWN;
	return set_extra(slots, node, bytes);
}

static bool add_page(void *context, uint64_t heap_page, const struct rcore_heap_page *page,
		     const unsigned char *copy)
{
	struct slots *slots = context;
	struct rcore_heap *heap = slots->heap;
	slots->err = grow(slots, page->slots);
	if (!slots->err && !rcore_grow((void **)&heap->spans, heap->span_count,
				       &slots->span_capacity, sizeof(*heap->spans)))
		slots->err = rcore_error_no_memory();
	if (slots->err)
		return false;
	heap->spans[heap->span_count++] = (struct rcore_heap_span){
		.start = page->start,
		.first_node = heap->node_count,
		.slot_count = (uint32_t)page->slots,
		.slot_size = (uint32_t)page->slot_size,
		.is_absent = !copy,
		.heap_page = heap_page,
	};
	rcore_page_bits_read(&slots->bits, slots->ruby, heap_page);
	slots->before_sweep = 0;
	rcore_field_of(slots->bits.copy, slots->bits.size,
		       &slots->ruby->layout->heap_page.before_sweep, &slots->before_sweep);
	for (size_t i = 0; i < page->slots && !slots->err; i++) {
		uint32_t node = heap->node_count + (uint32_t)i;
		if (copy) {
			slots->err = add_slot(slots, node, page->start + i * page->slot_size,
					      copy + i * page->slot_size, page->slot_size);
			continue;
		}
		heap->type[node] = RCORE_T_NONE;
		heap->state[node] = RCORE_HEAP_ABSENT;
		heap->extra[node] = 0;
	}
	heap->absent_pages += !copy;
	heap->node_count += (uint32_t)page->slots;
	rcore_graph_release(slots->ruby, heap->span_count);
	return !slots->err;
}

static void read_mode(struct rcore_ruby *ruby, uint64_t objspace, struct rcore_heap *heap)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t mode = 0, during = 0;
	rcore_read_field(ruby->memory, objspace, &layout->objspace.gc_mode, &mode);
	rcore_read_field(ruby->memory, objspace, &layout->objspace.during_gc, &during);
	heap->mode = mode <= RCORE_HEAP_COMPACTING ? (enum rcore_heap_mode)mode
						   : RCORE_HEAP_COMPACTING;
	heap->is_collecting = during != 0;
	if (!rcore_read_field(ruby->memory, objspace, &layout->objspace.during_compacting,
			      &during) &&
	    during)
		heap->mode = RCORE_HEAP_COMPACTING;
}

struct rcore_error *rcore_graph_slots(struct rcore_ruby *ruby, uint64_t objspace,
				      struct rcore_heap *ret)
{
	size_t unreadable = 0;
	*ret = (struct rcore_heap){0};
	struct slots *slots = calloc(1, sizeof(*slots));
	if (!slots)
		return rcore_error_no_memory();
	slots->ruby = ruby;
	slots->heap = ret;
	slots->slot_only = rcore_slot_only(ruby);
	/* From here on, most of the heap is read, some of it again. */
	rcore_core_read_mapping(ruby->core);
	read_mode(ruby, objspace, ret);
	struct rcore_error *err =
		rcore_heap_walk_pages(ruby, objspace, add_page, slots, &unreadable);
	if (!err)
		err = slots->err;
	ret->absent_pages += unreadable;
	free(slots);
	rcore_core_release_pages(ruby->core);
	return err;
}
