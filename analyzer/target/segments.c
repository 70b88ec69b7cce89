/* SPDX-License-Identifier: MIT */
#include "target/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"

/* Pieces that cannot be read rank after all that can. */
static const uint32_t UNREADABLE = UINT32_C(1) << 31;

bool rcore_segments_add(struct rcore_segments *segments, uint64_t start, uint64_t size,
			const uint8_t *bytes, enum rcore_fault fault)
{
	uint64_t end;
	if (__builtin_add_overflow(start, size, &end))
		end = UINT64_MAX;
	if (start >= end)
		return true;
	struct rcore_piece *piece = rcore_push(segments);
	if (!piece)
		return false;
	*piece = (struct rcore_piece){
		.start = start,
		.end = end,
		.bytes = bytes,
		.fault = bytes ? RCORE_FAULT_NONE : fault,
		.rank = (uint32_t)(segments->count - 1) |
			(bytes || fault == RCORE_FAULT_NONE ? 0 : UNREADABLE),
	};
	return true;
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_piece *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* A binary heap of pieces, the lowest rank on top. */
struct heap {
	struct rcore_piece **items;
	size_t count;
};

static void heap_push(struct heap *heap, struct rcore_piece *piece)
{
	size_t i = heap->count++;
	for (; i && heap->items[(i - 1) / 2]->rank > piece->rank; i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = piece;
}

static void heap_pop(struct heap *heap)
{
	struct rcore_piece *last = heap->items[--heap->count];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
		if (child + 1 < heap->count &&
		    heap->items[child + 1]->rank < heap->items[child]->rank)
			child++;
		if (last->rank <= heap->items[child]->rank)
			break;
		heap->items[i] = heap->items[child];
	}
	heap->items[i] = last;
}

static bool emit(struct rcore_segments *out, const struct rcore_piece *piece, uint64_t start,
		 uint64_t end)
{
	struct rcore_piece *last = out->count ? &out->items[out->count - 1] : NULL;
	if (last && last->rank == piece->rank && last->end == start) {
		last->end = end;
		return true;
	}
	struct rcore_piece *part = rcore_push(out);
	if (!part)
		return false;
	*part = *piece;
	part->start = start;
	part->end = end;
	if (part->bytes)
		part->bytes += start - piece->start;
	return true;
}

/*
 * Goes through the addresses in order. The heap has the pieces that cover the
 * current one, the best on top.
 */
static bool cut(const struct rcore_segments *in, struct heap *heap, struct rcore_segments *out)
{
	uint64_t position = 0;
	size_t next = 0;
	while (next < in->count || heap->count) {
		if (!heap->count && position < in->items[next].start)
			position = in->items[next].start;
		for (; next < in->count && in->items[next].start <= position; next++)
			heap_push(heap, &in->items[next]);
		while (heap->count && heap->items[0]->end <= position)
			heap_pop(heap);
		if (!heap->count)
			continue;
		uint64_t end = heap->items[0]->end;
		if (next < in->count && in->items[next].start < end)
			end = in->items[next].start;
		if (!emit(out, heap->items[0], position, end))
			return false;
		position = end;
	}
	return true;
}

bool rcore_segments_ready(struct rcore_segments *segments)
{
	bool sorted = true, overlap = false;
	for (size_t i = 1; i < segments->count; i++)
		sorted &= segments->items[i - 1].start <= segments->items[i].start;
	if (!sorted)
		qsort(segments->items, segments->count, sizeof(*segments->items), by_start);
	for (size_t i = 1; i < segments->count; i++)
		overlap |= segments->items[i - 1].end > segments->items[i].start;
	if (!overlap)
		return true;

	struct rcore_segments out = {0};
	struct heap heap = {calloc(segments->count, sizeof(*heap.items)), 0};
	bool done = heap.items && cut(segments, &heap, &out);
	free(heap.items);
	if (!done) {
		rcore_segments_deinit(&out);
		return false;
	}
	rcore_segments_deinit(segments);
	*segments = out;
	return true;
}

/*
 * Reads alternate between Ruby's heap pages, VM stacks and iseqs, so a few
 * places are cached by 64 KiB block.
 */
static const struct rcore_piece *find(struct rcore_segments *segments, uint64_t address)
{
	uint32_t *recent = &segments->recent[(address >> 16) % RCORE_SEGMENTS_RECENT];
	if (*recent < segments->count) {
		const struct rcore_piece *piece = &segments->items[*recent];
		if (piece->start <= address && address < piece->end)
			return piece;
	}
	size_t low = RCORE_PARTITION_POINT(segments->count, middle,
					   segments->items[middle].end <= address);
	if (low == segments->count || segments->items[low].start > address)
		return NULL;
	*recent = (uint32_t)low;
	return &segments->items[low];
}

enum rcore_fault rcore_segments_read(struct rcore_segments *segments, uint64_t address,
				     void *buffer, size_t size)
{
	uint64_t end;
	if (__builtin_add_overflow(address, (uint64_t)size, &end))
		return RCORE_FAULT_UNMAPPED;
	char *out = buffer;
	while (size) {
		const struct rcore_piece *piece = find(segments, address);
		if (!piece)
			return RCORE_FAULT_UNMAPPED;
		if (piece->fault)
			return piece->fault;
		uint64_t part = piece->end - address;
		if (part > size)
			part = size;
		if (piece->bytes)
			memcpy(out, piece->bytes + (address - piece->start), part);
		out += part;
		address += part;
		size -= part;
	}
	return RCORE_FAULT_NONE;
}

const struct rcore_piece *rcore_segments_find(struct rcore_segments *segments, uint64_t address)
{
	return find(segments, address);
}

uint64_t rcore_segments_edge(const struct rcore_segments *segments, uint64_t address)
{
	const struct rcore_piece *items = segments->items;
	const size_t count = segments->count;
	size_t i = RCORE_PARTITION_POINT(count, middle, items[middle].end <= address);
	if (i == count)
		return UINT64_MAX;
	return items[i].start > address ? items[i].start : items[i].end;
}

void rcore_segments_deinit(struct rcore_segments *segments)
{
	free(segments->items);
	*segments = (struct rcore_segments){0};
}
