/* SPDX-License-Identifier: MIT */
#include "target/live/pages/live_pages_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/page_buffer.h"

enum {
	PAGE = RCORE_LIVE_PAGE,
	BLOCK_PAGES = 64,
	WORK_FACTOR = 16,
};

/*
 * Allocates the bytes of `count` pages in one block. Returns NULL if memory is
 * short.
 */
static uint8_t *add_block(struct rcore_live_pages *pages, size_t count)
{
	if (!rcore_grow((void **)&pages->blocks, pages->block_count, &pages->block_capacity,
			sizeof(*pages->blocks)))
		return NULL;
	uint8_t *block = rcore_page_buffer(count * PAGE);
	if (block)
		pages->blocks[pages->block_count++] = block;
	return block;
}

static uint8_t *room_for_page(struct rcore_live_pages *pages)
{
	if (!pages->room) {
		if (!add_block(pages, BLOCK_PAGES))
			return NULL;
		pages->room = BLOCK_PAGES;
	}
	return pages->blocks[pages->block_count - 1] + (BLOCK_PAGES - pages->room--) * PAGE;
}

size_t rcore_live_pages_first_after(const struct rcore_live_pages *pages, uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(pages->sorted_count, middle,
					   pages->sorted[middle] + PAGE <= address);
	return low;
}

static struct rcore_live_page *find(struct rcore_live_pages *pages, uint64_t address)
{
	size_t slot = address / PAGE % RCORE_LIVE_PAGES_RECENT;
	if (pages->recent[slot].item && pages->recent[slot].address == address)
		return &pages->items[pages->recent[slot].item - 1];
	size_t item = rcore_live_pages_first_after(pages, address);
	if (item == pages->sorted_count || pages->sorted[item] != address) {
		int index = rcore_address_map_get(&pages->index, address);
		if (index < 0)
			return NULL;
		item = (size_t)index;
	}
	pages->recent[slot].address = address;
	pages->recent[slot].item = item + 1;
	return &pages->items[item];
}

/*
 * Adds a page that is not in the list yet; its bytes come from room_for_page().
 * Returns NULL if memory is short.
 */
static struct rcore_live_page *add(struct rcore_live_pages *pages, uint64_t address,
				   uint8_t *bytes)
{
	struct rcore_live_page *page = rcore_push(pages);
	if (!page)
		return NULL;
	*page = (struct rcore_live_page){.address = address, .bytes = bytes};
	if (rcore_address_map_put(&pages->index, address, (int)(pages->count - 1)))
		return page;
	pages->count--;
	return NULL;
}

/*
 * Pages that cannot be read are not added to the list. During the search for a
 * layout, most words that are followed are not pointers, and copying many pages
 * starts again after each page that fails.
 */
static enum rcore_fault read_new(struct rcore_live_pages *pages, uint64_t start,
				 struct rcore_live_page **ret)
{
	uint8_t *bytes = pages->count < RCORE_LIVE_PAGES_LIMIT ? room_for_page(pages) : NULL;
	*ret = NULL;
	if (!bytes)
		return RCORE_FAULT_NONE;
	size_t late = pages->below->late_count;
	enum rcore_fault fault = rcore_read(&pages->below->memory, start, bytes, PAGE);
	if (fault) {
		pages->room++;
		return fault;
	}
	*ret = add(pages, start, bytes);
	if (*ret) {
		(*ret)->state = RCORE_LIVE_PAGE_READ;
		(*ret)->is_late = pages->below->late_count > late;
	}
	return RCORE_FAULT_NONE;
}

static enum rcore_fault read_part(struct rcore_live_pages *pages, uint64_t address,
				  void *buffer, size_t size)
{
	struct rcore_memory *below = &pages->below->memory;
	if (pages->copy && rcore_live_copy_read(pages->copy, address, buffer, size))
		return RCORE_FAULT_NONE;
	uint64_t start = address & ~(uint64_t)(PAGE - 1);
	struct rcore_live_page *page = find(pages, start);
	bool is_read = page && page->state == RCORE_LIVE_PAGE_READ;
	if (pages->is_frozen && !is_read) {
		const struct rcore_live_region *region =
			rcore_live_region_at(pages->below->maps, address);
		if (!region)
			return RCORE_FAULT_UNMAPPED;
		if (!region->is_constant)
			return RCORE_FAULT_NOT_COPIED;
	}
	if (!page) {
		enum rcore_fault fault = read_new(pages, start, &page);
		if (fault)
			return fault;
		if (!page)
			return rcore_read(below, address, buffer, size);
	} else if (!is_read) {
		size_t late = pages->below->late_count;
		page->has_digest = false;
		enum rcore_fault fault = rcore_read(below, start, page->bytes, PAGE);
		if (fault)
			return fault;
		page->state = RCORE_LIVE_PAGE_READ;
		page->is_late = pages->below->late_count > late;
	}
	memcpy(buffer, page->bytes + (address - start), size);
	return RCORE_FAULT_NONE;
}

/*
 * A copy of all memory outlives the process. What it lacks is constant and was
 * left out, so that it may be read from files.
 */
static enum rcore_fault without_process(const struct rcore_live_pages *pages,
					enum rcore_fault fault)
{
	return pages->copy && fault == RCORE_FAULT_IO ? RCORE_FAULT_NOT_COPIED : fault;
}

static enum rcore_fault read_pages(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct rcore_live_pages *pages = (struct rcore_live_pages *)memory;
	uint64_t end;
	if (__builtin_add_overflow(address, (uint64_t)size, &end))
		return RCORE_FAULT_UNMAPPED;
	if (pages->copy && rcore_live_copy_read(pages->copy, address, buffer, size))
		return RCORE_FAULT_NONE;
	if (size > RCORE_LIVE_SCAN_SIZE && !pages->is_frozen)
		return rcore_read(&pages->below->memory, address, buffer, size);
	for (uint8_t *out = buffer; size;) {
		size_t part = PAGE - address % PAGE;
		if (part > size)
			part = size;
		enum rcore_fault fault = read_part(pages, address, out, part);
		if (fault)
			return without_process(pages, fault);
		out += part;
		address += part;
		size -= part;
	}
	return RCORE_FAULT_NONE;
}

void rcore_live_pages_init(struct rcore_live_pages *pages, struct rcore_live_memory *below)
{
	*pages = (struct rcore_live_pages){.memory = {.read = read_pages}, .below = below};
}

static void drop_index(struct rcore_live_pages *pages)
{
	rcore_address_map_deinit(&pages->index);
	pages->index = (struct rcore_address_map){0};
	memset(pages->recent, 0, sizeof(pages->recent));
}

static void drop_blocks(struct rcore_live_pages *pages)
{
	for (size_t i = 0; i < pages->block_count; i++)
		free(pages->blocks[i]);
	free(pages->blocks);
	pages->blocks = NULL;
	pages->block_count = pages->block_capacity = pages->room = 0;
}

static void drop_lists(struct rcore_live_pages *pages)
{
	free(pages->wanted.items);
	free(pages->awake.items);
	free(pages->changes);
	pages->wanted = pages->awake = (struct rcore_live_page_list){0};
	pages->awake_sorted = pages->noted_count = 0;
	pages->changes = NULL;
}

void rcore_live_pages_clear(struct rcore_live_pages *pages)
{
	drop_index(pages);
	drop_blocks(pages);
	free(pages->items);
	free(pages->sorted);
	drop_lists(pages);
	rcore_live_pages_drop_rooms(pages);
	rcore_live_pages_init(pages, pages->below);
}

bool rcore_live_pages_want(struct rcore_live_pages *pages, uint64_t start, uint64_t end)
{
	for (start &= ~(uint64_t)(PAGE - 1); start < end; start += PAGE) {
		if (find(pages, start))
			continue;
		uint8_t *bytes =
			pages->count < RCORE_LIVE_PAGES_LIMIT ? room_for_page(pages) : NULL;
		if (!bytes || !add(pages, start, bytes))
			return false;
		rcore_live_pages_note_wanted(pages, pages->count - 1);
	}
	return true;
}

void rcore_live_pages_note_wanted(struct rcore_live_pages *pages, size_t item)
{
	uint32_t *noted = rcore_push(&pages->wanted);
	if (noted)
		*noted = (uint32_t)item;
	else
		pages->are_all_wanted = true;
}

static int by_address(const void *left, const void *right)
{
	const struct rcore_live_page *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/*
 * Sorts the list by address, so that one range of a system call covers adjacent
 * pages. Writes to the bytes once, so that the kernel does not have to allocate
 * rcore's own pages at the worst moment.
 */
bool rcore_live_pages_rewind(struct rcore_live_pages *pages)
{
	drop_index(pages);
	drop_blocks(pages);
	rcore_live_pages_drop_rooms(pages);
	drop_lists(pages);
	pages->are_all_wanted = true;
	pages->is_frozen = false;
	pages->sorted_count = 0;
	if (!pages->count)
		return true;
	uint8_t *bytes = add_block(pages, pages->count);
	if (!bytes)
		return false;
	memset(bytes, 0, pages->count * PAGE);
	qsort(pages->items, pages->count, sizeof(*pages->items), by_address);
	free(pages->sorted);
	pages->sorted = malloc(pages->count * sizeof(*pages->sorted));
	pages->sorted_count = pages->sorted ? pages->count : 0;
	if (!pages->sorted)
		return false;
	pages->work_left = WORK_FACTOR * (uint64_t)pages->count * PAGE;
	for (size_t i = 0; i < pages->count; i++) {
		pages->items[i].bytes = bytes + i * PAGE;
		pages->items[i].state = RCORE_LIVE_PAGE_WANTED;
		pages->items[i].is_late = pages->items[i].rests = false;
		pages->items[i].is_same = pages->items[i].has_digest = false;
		pages->items[i].is_constant = false;
		pages->sorted[i] = pages->items[i].address;
	}
	return true;
}

bool rcore_live_pages_are_late(struct rcore_live_pages *pages, uint64_t start, uint64_t end)
{
	for (start &= ~(uint64_t)(PAGE - 1); start < end; start += PAGE) {
		const struct rcore_live_page *page = find(pages, start);
		if (page && page->is_late)
			return true;
	}
	return false;
}

void rcore_live_pages_freeze(struct rcore_live_pages *pages)
{
	pages->is_frozen = true;
}
