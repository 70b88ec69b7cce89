/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_memory.h"

#include <string.h>

static enum rcore_fault read_kept(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct rcore_kept_pages *kept = (struct rcore_kept_pages *)memory;
	uint64_t offset = address % RCORE_KEPT_PAGE;
	if (size > RCORE_KEPT_PAGE - offset)
		return rcore_read(kept->below, address, buffer, size);
	uint64_t start = address - offset;
	size_t slot = start / RCORE_KEPT_PAGE % RCORE_KEPT_PAGES;
	if (!kept->pages[slot].filled || kept->pages[slot].start != start) {
		kept->pages[slot].filled = false;
		/* A part of the page may still be readable. */
		if (rcore_read(kept->below, start, kept->pages[slot].bytes, RCORE_KEPT_PAGE))
			return rcore_read(kept->below, address, buffer, size);
		kept->pages[slot].filled = true;
		kept->pages[slot].start = start;
	}
	memcpy(buffer, kept->pages[slot].bytes + offset, size);
	return RCORE_FAULT_NONE;
}

void rcore_kept_pages_init(struct rcore_kept_pages *kept, struct rcore_memory *below)
{
	kept->memory.read = read_kept;
	kept->below = below;
	for (size_t i = 0; i < RCORE_KEPT_PAGES; i++)
		kept->pages[i].filled = false;
}
