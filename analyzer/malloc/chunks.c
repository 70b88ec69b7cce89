/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "malloc/ptmalloc.h"

void rcore_malloc_problem(struct rcore_malloc *heap, const char *format, ...)
{
	va_list arguments;
	if (heap->problem[0])
		return;
	va_start(arguments, format);
	vsnprintf(heap->problem, sizeof(heap->problem), format, arguments);
	va_end(arguments);
}

bool rcore_malloc_add_region(struct rcore_malloc *heap, uint64_t start, uint64_t end,
			     enum rcore_chunk_region_kind kind)
{
	if (!rcore_grow((void **)&heap->regions, heap->region_count, &heap->region_capacity,
			sizeof(*heap->regions)))
		return false;
	heap->regions[heap->region_count++] = (struct rcore_chunk_region){
		.start = start,
		.end = end,
		.kind = (uint8_t)kind,
		.first = heap->chunk_count,
	};
	return true;
}

static bool grow_chunks(struct rcore_malloc *heap)
{
	size_t capacity = heap->chunk_capacity;
	if (!rcore_grow((void **)&heap->offset, heap->chunk_count, &capacity,
			sizeof(*heap->offset)))
		return false;
	if (capacity != heap->chunk_capacity) {
		uint8_t *state = realloc(heap->state, capacity);
		if (!state)
			return false;
		heap->state = state;
	}
	heap->chunk_capacity = capacity;
	return true;
}

bool rcore_malloc_add_chunk(struct rcore_malloc *heap, uint64_t chunk)
{
	struct rcore_chunk_region *region = &heap->regions[heap->region_count - 1];
	if (!grow_chunks(heap))
		return false;
	heap->offset[heap->chunk_count] =
		(uint32_t)((chunk - region->start) / RCORE_CHUNK_ALIGN);
	heap->state[heap->chunk_count++] = RCORE_CHUNK_USED;
	region->count++;
	return true;
}

static const struct rcore_chunk_region *find_region(const struct rcore_malloc *heap,
						    uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(heap->region_count, middle,
					   heap->regions[middle].start <= address);
	return low && address < heap->regions[low - 1].end ? &heap->regions[low - 1] : NULL;
}

void rcore_malloc_chunk(const struct rcore_malloc *heap,
			const struct rcore_chunk_region *region, size_t index,
			struct rcore_chunk *ret)
{
	if (region->kind == RCORE_CHUNK_REGION_SLAB ||
	    region->kind == RCORE_CHUNK_REGION_LARGE) {
		uint64_t size = region->kind == RCORE_CHUNK_REGION_SLAB
					? region->chunk_size
					: region->end - region->start;
		*ret = (struct rcore_chunk){
			.address = region->start + (index - region->first) * size,
			.size = size,
			.bytes = size,
			.state = heap->state[index],
			.index = index,
		};
		return;
	}
	bool is_last = index + 1 == region->first + region->count;
	uint64_t start = region->start + (uint64_t)heap->offset[index] * RCORE_CHUNK_ALIGN;
	uint64_t end =
		is_last ? region->end
			: region->start + (uint64_t)heap->offset[index + 1] * RCORE_CHUNK_ALIGN;
	uint64_t header = region->kind == RCORE_CHUNK_REGION_MMAP ? RCORE_CHUNK_MEMORY
								  : RCORE_CHUNK_MEMORY - 8;
	*ret = (struct rcore_chunk){
		.address = start + RCORE_CHUNK_MEMORY,
		.size = end - start - header,
		.bytes = end - start,
		.state = heap->state[index],
		.index = index,
	};
}

bool rcore_malloc_find(const struct rcore_malloc *heap, uint64_t address, bool inside,
		       struct rcore_chunk *ret)
{
	const struct rcore_chunk_region *region = find_region(heap, address);
	if (!region || !region->count)
		return false;
	size_t low = region->first, high = low + region->count;
	if (region->kind == RCORE_CHUNK_REGION_SLAB) {
		low += (address - region->start) / region->chunk_size;
		if (low >= high)
			return false;
		high = low + 1;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		uint64_t at =
			region->start + (uint64_t)heap->offset[middle] * RCORE_CHUNK_ALIGN;
		if (at <= address)
			low = middle;
		else
			high = middle;
	}
	rcore_malloc_chunk(heap, region, low, ret);
	if (ret->state != RCORE_CHUNK_USED || address < ret->address)
		return false;
	return address == ret->address || (inside && address - ret->address < ret->size);
}

static int compare_regions(const void *a, const void *b)
{
	const struct rcore_chunk_region *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

void rcore_malloc_sort(struct rcore_malloc *heap)
{
	size_t kept = 0;
	if (!heap->region_count)
		return;
	qsort(heap->regions, heap->region_count, sizeof(*heap->regions), compare_regions);
	for (size_t i = 0; i < heap->region_count; i++) {
		if (kept && heap->regions[i].start < heap->regions[kept - 1].end)
			rcore_malloc_problem(heap, "heaps of malloc() overlap at 0x%llx",
					     (unsigned long long)heap->regions[i].start);
		else
			heap->regions[kept++] = heap->regions[i];
	}
	heap->region_count = kept;
}

void rcore_malloc_add_up(struct rcore_malloc *heap)
{
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct rcore_chunk_region *region = &heap->regions[i];
		for (size_t n = region->first; n < region->first + region->count; n++) {
			struct rcore_chunk chunk;
			rcore_malloc_chunk(heap, region, n, &chunk);
			heap->sums[chunk.state].count++;
			heap->sums[chunk.state].bytes += chunk.bytes;
			if (region->kind != RCORE_CHUNK_REGION_MMAP &&
			    region->kind != RCORE_CHUNK_REGION_LARGE)
				continue;
			heap->mmapped.count++;
			heap->mmapped.bytes += chunk.bytes;
		}
	}
}

bool rcore_malloc_copy(struct rcore_memory *memory, uint64_t start, uint64_t end, void *bytes)
{
	enum { PAGE = 4096 };
	uint8_t *to = bytes;
	bool is_complete = true;
	for (uint64_t at = start, size; at < end; at += size, to += size) {
		size = PAGE - at % PAGE;
		if (size > end - at)
			size = end - at;
		if (rcore_read(memory, at, to, size)) {
			memset(to, 0, size);
			is_complete = false;
		}
	}
	return is_complete;
}

void rcore_malloc_deinit(struct rcore_malloc *heap)
{
	free(heap->regions);
	free(heap->offset);
	free(heap->state);
	memset(heap, 0, sizeof(*heap));
}
