/* SPDX-License-Identifier: MIT */
/* The pages that a round keeps. */
#include "target/live/live_private.h"

void rcore_live_forget(struct rcore_live *live)
{
	/* Once all memory is copied, reads come from that copy. */
	if (!live->pages.copy)
		rcore_live_pages_clear(&live->pages);
}

uint64_t rcore_live_stack_end(const struct rcore_live *live, uint64_t sp,
			      uint64_t thread_pointer)
{
	enum { UNKNOWN = 256 << 10 };
	const struct rcore_live_region *region = rcore_live_region_at(&live->maps, sp);
	uint64_t end = region ? region->end : sp + UNKNOWN;
	uint64_t top = (thread_pointer | (RCORE_LIVE_PAGE - 1)) + 1;
	return thread_pointer > sp && top < end ? top : end;
}

void rcore_live_keep(struct rcore_live *live, uint64_t start, uint64_t end)
{
	if (start < end)
		rcore_live_pages_want(&live->pages, start, end);
}

void rcore_live_fetch(struct rcore_live *live)
{
	if (!live->pages.is_frozen)
		rcore_live_pages_fill(&live->pages);
}

size_t rcore_live_rest(struct rcore_live *live, uint64_t start, uint64_t end)
{
	return rcore_live_pages_rest(&live->pages, start, end) * RCORE_LIVE_PAGE;
}

bool rcore_live_wake(struct rcore_live *live, uint64_t start, uint64_t end)
{
	return rcore_live_pages_wake(&live->pages, start, end) > 0;
}

bool rcore_live_is_late(struct rcore_live *live, uint64_t start, uint64_t end)
{
	return rcore_live_pages_are_late(&live->pages, start, end);
}

bool rcore_live_is_same(struct rcore_live *live, uint64_t start, uint64_t end)
{
	return rcore_live_pages_are_same(&live->pages, start, end);
}

struct rcore_live_span rcore_live_span(const struct rcore_live *live, uint64_t start,
				       uint64_t end)
{
	return rcore_live_pages_span(&live->pages, start, end);
}

void rcore_live_note_awake(struct rcore_live *live)
{
	rcore_live_pages_note_awake(&live->pages);
}

bool rcore_live_count_changes(struct rcore_live *live)
{
	return rcore_live_pages_count_changes(&live->pages);
}

bool rcore_live_is_span_same(const struct rcore_live *live, struct rcore_live_span span)
{
	return rcore_live_pages_is_span_same(&live->pages, span);
}

uint64_t rcore_live_digest(struct rcore_live *live, uint64_t start, uint64_t end)
{
	return rcore_live_pages_digest(&live->pages, start, end);
}
