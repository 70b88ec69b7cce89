/* SPDX-License-Identifier: MIT */
#include "vm/find/fiber_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/heap/heap_scan.h"

/* The start of a slot that may be a Fiber. */
struct candidate {
	uint64_t value;
	/* RTypedData, up to `data`: RBasic has two words, the rest three. */
	uint64_t copy[5];
};

enum { CANDIDATE_LIMIT = 4 << 20, COPY = sizeof(((struct candidate *)NULL)->copy) };

struct candidates {
	struct candidate *items;
	size_t count, capacity;
};

struct search {
	const struct rcore_layout *layout;
	uint64_t fiber_type;
	struct candidates found[RCORE_LIVE_SCAN_THREADS];
};

static uint64_t word_at(const unsigned char *slot, const struct rcore_field *field)
{
	uint64_t word;
	memcpy(&word, slot + field->offset, sizeof(word));
	return word;
}

static bool visit_page(void *context, int thread, const struct rcore_heap_page *page,
		       const unsigned char *slots)
{
	struct search *search = context;
	const struct rcore_layout *layout = search->layout;
	struct candidates *found = &search->found[thread];
	if (page->slot_size < COPY)
		return false;
	for (size_t i = 0; i < page->slots; i++) {
		const unsigned char *slot = slots + i * page->slot_size;
		uint64_t flags = word_at(slot, &layout->basic.flags);
		if ((flags & RCORE_T_MASK) != RCORE_T_DATA ||
		    (search->fiber_type &&
		     word_at(slot, &layout->data.type) != search->fiber_type))
			continue;
		struct candidate *candidate =
			found->count < CANDIDATE_LIMIT ? rcore_push(found) : NULL;
		if (!candidate)
			return false;
		candidate->value = page->start + i * page->slot_size;
		memcpy(candidate->copy, slot, COPY);
	}
	return true;
}

static bool is_in_copy(const struct rcore_field *field)
{
	return field->size == sizeof(uint64_t) && !field->bits && field->offset >= 0 &&
	       (size_t)field->offset + sizeof(uint64_t) <= COPY;
}

static bool visit_all(const struct candidates *found, rcore_heap_visit *visit, void *context)
{
	for (size_t i = 0; i < found->count; i++)
		if (!visit(context, found->items[i].value, found->items[i].copy, COPY))
			return false;
	return true;
}

bool rcore_fiber_scan(struct rcore_ruby *ruby, uint64_t objspace, rcore_heap_visit *visit,
		      void *context)
{
	const struct rcore_layout *layout = ruby->layout;
	struct search search = {.layout = layout, .fiber_type = ruby->statics.fiber_type};
	const bool unprotected = (ruby->earlier_fibers || ruby->reads_now) &&
				 ruby->statics.fibers_unprotected && search.fiber_type;
	bool is_complete = is_in_copy(&layout->basic.flags) && is_in_copy(&layout->data.type) &&
			   is_in_copy(&layout->data.data) &&
			   rcore_heap_scan(ruby, objspace, unprotected, visit_page, &search);
	bool go_on = is_complete;
	for (int thread = 0; thread < RCORE_LIVE_SCAN_THREADS; thread++) {
		go_on = go_on && visit_all(&search.found[thread], visit, context);
		free(search.found[thread].items);
	}
	return is_complete;
}
