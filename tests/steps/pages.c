/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/grow.h"

enum { PAGE = RCORE_LIVE_PAGE };

struct page {
	uint64_t start;
	bool used; /* since the last step */
	bool is_constant;
	UT_hash_handle hh;
	uint8_t bytes[PAGE];
};

static void forget(struct pages *pages, struct page *page)
{
	if (pages->last == page)
		pages->last = NULL;
	HASH_DEL(pages->known, page);
	free(page);
}

static enum rcore_fault load(struct pages *pages, uint64_t start, struct page **ret)
{
	uint64_t hash = states_mix(0, start);
	if (states_has(&pages->unmapped, hash))
		return RCORE_FAULT_UNMAPPED;
	struct page *page = malloc(sizeof(*page));
	if (!page)
		abort();
	enum rcore_fault fault =
		rcore_read(&pages->below->memory, start, page->bytes, sizeof(page->bytes));
	if (fault) {
		if (fault == RCORE_FAULT_UNMAPPED)
			states_add(&pages->unmapped, hash);
		free(page);
		return fault;
	}
	const struct rcore_live_region *region =
		rcore_live_region_at(pages->below->maps, start);
	page->start = start;
	page->is_constant = region && region->is_constant;
	HASH_ADD(hh, pages->known, start, sizeof(page->start), page);
	*ret = page;
	return RCORE_FAULT_NONE;
}

static enum rcore_fault find(struct pages *pages, uint64_t start, struct page **ret)
{
	enum rcore_fault fault = RCORE_FAULT_NONE;
	struct page *page = pages->last;
	if (!page || page->start != start)
		HASH_FIND(hh, pages->known, &start, sizeof(start), page);
	if (!page)
		fault = load(pages, start, &page);
	if (fault)
		return fault;
	page->used = true;
	*ret = pages->last = page;
	return RCORE_FAULT_NONE;
}

static enum rcore_fault read_pages(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct pages *pages = (struct pages *)memory;
	uint8_t *out = buffer;
	uint64_t end;
	if (__builtin_add_overflow(address, (uint64_t)size, &end))
		return RCORE_FAULT_UNMAPPED;
	while (size) {
		struct page *page;
		size_t offset = address % PAGE;
		size_t part = PAGE - offset < size ? PAGE - offset : size;
		enum rcore_fault fault = find(pages, address - offset, &page);
		if (fault)
			return fault;
		memcpy(out, page->bytes + offset, part);
		out += part;
		address += part;
		size -= part;
	}
	return RCORE_FAULT_NONE;
}

void pages_init(struct pages *pages, struct rcore_live_memory *below)
{
	*pages = (struct pages){.memory = {read_pages}, .below = below};
}

void pages_deinit(struct pages *pages)
{
	struct page *page, *next;
	HASH_ITER (hh, pages->known, page, next) {
		/* cppcheck-suppress uninitvar */
		forget(pages, page);
	}
	free(pages->ranges);
	states_deinit(&pages->unmapped);
}

void pages_renew(struct pages *pages, bool remapped)
{
	struct page *page, *next;
	size_t count = 0;
	HASH_ITER (hh, pages->known, page, next) {
		/* cppcheck-suppress uninitvar */
		bool is_needed = page->used && !remapped;
		page->used = false;
		if (!is_needed) {
			forget(pages, page);
			continue;
		}
		if (page->is_constant)
			continue;
		if (!rcore_grow((void **)&pages->ranges, count, &pages->capacity,
				sizeof(*pages->ranges)))
			abort();
		pages->ranges[count++] = (struct rcore_live_range){
			.start = page->start, .size = PAGE, .bytes = page->bytes};
	}
	rcore_live_read_batch(pages->below, pages->ranges, count);
	for (size_t i = 0; i < count; i++) {
		if (pages->ranges[i].read == PAGE)
			continue;
		HASH_FIND(hh, pages->known, &pages->ranges[i].start, sizeof(page->start), page);
		forget(pages, page);
	}
	states_deinit(&pages->unmapped);
}
