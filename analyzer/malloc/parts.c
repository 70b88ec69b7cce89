/* SPDX-License-Identifier: MIT */
#include "base/order.h"
#include "malloc/malloc.h"

static size_t part_after(const struct rcore_malloc_parts *parts, uint64_t address)
{
	return RCORE_PARTITION_POINT(parts->count, middle, parts->items[middle].end <= address);
}

uint64_t rcore_malloc_zero_end(const struct rcore_malloc_parts *parts, uint64_t address)
{
	size_t i = part_after(parts, address);
	bool is_zero =
		i < parts->count && parts->items[i].is_zero && parts->items[i].start <= address;
	return is_zero ? parts->items[i].end : address;
}

uint64_t rcore_malloc_next_filled(const struct rcore_malloc_parts *parts, uint64_t address,
				  uint64_t end)
{
	size_t i = part_after(parts, address);
	if (!parts->is_known)
		return address < end ? address : UINT64_MAX;
	while (i < parts->count && parts->items[i].is_zero && parts->items[i].start < end)
		i++;
	if (i == parts->count || parts->items[i].start >= end)
		return UINT64_MAX;
	return parts->items[i].start > address ? parts->items[i].start : address;
}
