/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_stretch.h"

#include <stdlib.h>
#include <string.h>

bool rcore_stretch_is_marked(const struct rcore_stretch *stretch, size_t at,
			     enum rcore_recorded kind)
{
	uint64_t address = stretch->start + at;
	const struct rcore_recorded_page *page =
		stretch->pages[(address - stretch->pages[0]->start) / RCORE_RECORDER_PAGE];
	return rcore_recorded_is(page, kind, address % RCORE_RECORDER_PAGE);
}

struct walk {
	struct rcore_memory *memory;
	bool (*visit)(void *context, const struct rcore_stretch *stretch);
	void *context;
	struct rcore_stretch stretch;
	bool is_done, no_memory;
};

static void visit(struct walk *walk)
{
	if (walk->stretch.count && !walk->is_done)
		walk->is_done = !walk->visit(walk->context, &walk->stretch);
	walk->stretch.count = 0;
}

static bool add_bytes(struct rcore_stretch *stretch, const uint8_t *bytes, size_t size)
{
	while (stretch->capacity - stretch->count < size) {
		size_t wanted = stretch->capacity ? stretch->capacity * 2 : RCORE_RECORDER_PAGE;
		char *grown = realloc(stretch->items, wanted);
		if (!grown)
			return false;
		stretch->items = grown;
		stretch->capacity = wanted;
	}
	memcpy(stretch->items + stretch->count, bytes, size);
	stretch->count += size;
	return true;
}

static void take_page(struct walk *walk, const struct rcore_recorded_page *const *page)
{
	struct rcore_stretch *stretch = &walk->stretch;
	size_t start, size;
	uint8_t bytes[RCORE_RECORDER_PAGE];
	for (size_t at = 0;
	     rcore_recorded_read(*page, walk->memory, &at, &start, &size, bytes);) {
		uint64_t address = (*page)->start + start;
		if (address != stretch->start + stretch->count)
			visit(walk);
		if (!stretch->count) {
			stretch->start = address;
			stretch->pages = page;
		}
		walk->no_memory |= !add_bytes(stretch, bytes, size);
	}
}

struct rcore_error *
rcore_stretches(struct rcore_recorder *recorder, struct rcore_memory *memory,
		bool (*visit_one)(void *context, const struct rcore_stretch *stretch),
		void *context)
{
	struct walk walk = {.memory = memory, .visit = visit_one, .context = context};
	size_t count;
	rcore_recorder_pause(recorder, true);
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	for (size_t i = 0; pages && i < count && !walk.no_memory && !walk.is_done; i++)
		take_page(&walk, &pages[i]);
	visit(&walk);
	rcore_recorder_pause(recorder, false);
	free(walk.stretch.items);
	return walk.no_memory || !pages ? rcore_error_no_memory() : NULL;
}
