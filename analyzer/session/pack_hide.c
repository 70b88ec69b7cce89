/* SPDX-License-Identifier: MIT */
#include "session/pack_hide.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/ruby.h"
#include "target/pack/pack_notes.h"

/* Consecutive bytes of the target that were recorded, across pages. */
struct stretch {
	uint64_t start;
	char *items;
	size_t count, capacity;
	const struct rcore_recorded_page *const *pages; /* the first of them */
};

struct ranges {
	struct rcore_range *items;
	size_t count, capacity;
};

struct hiding {
	const struct rcore_target *target;
	const struct rcore_pack_source *source;
	const struct rcore_redactor *redactor;
	enum rcore_redact mode;
	struct ranges stacks, vm_stacks; /* by start */
	bool no_memory;
};

/* Ranges are equal or do not overlap. */
static bool is_in(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->count && ranges->items[low].start <= address;
}

static bool is_marked(const struct stretch *stretch, size_t at, enum rcore_recorded kind)
{
	uint64_t address = stretch->start + at;
	const struct rcore_recorded_page *page =
		stretch->pages[(address - stretch->pages[0]->start) / RCORE_RECORDER_PAGE];
	return rcore_recorded_is(page, kind, address % RCORE_RECORDER_PAGE);
}

/*
 * Names stay readable even if their bytes are also part of something else,
 * because every report prints them.
 */
static void hide(struct hiding *hiding, const struct stretch *stretch, size_t start, size_t end)
{
	bool keeps_names = hiding->mode < RCORE_REDACT_ALL;
	for (size_t at = start; at < end; at++)
		if (!is_marked(stretch, at, RCORE_RECORDED_WORD) &&
		    !(keeps_names && is_marked(stretch, at, RCORE_RECORDED_NAME)))
			rcore_recorder_mark(hiding->target->recorder, RCORE_RECORDED_HIDDEN,
					    stretch->start + at, 1);
}

static void hide_names(struct hiding *hiding, const struct stretch *stretch)
{
	for (size_t at = 0; at < stretch->count; at++)
		if (is_marked(stretch, at, RCORE_RECORDED_NAME))
			hide(hiding, stretch, at, at + 1);
}

static void hide_spans(struct hiding *hiding, const struct stretch *stretch, size_t at,
		       struct rcore_spans *spans)
{
	hiding->no_memory |= spans->no_memory;
	for (size_t i = 0; i < spans->count; i++)
		hide(hiding, stretch, at + spans->items[i].start, at + spans->items[i].end);
	rcore_spans_deinit(spans);
}

static size_t end_of_text(const struct stretch *stretch, size_t at)
{
	while (at < stretch->count && is_marked(stretch, at, RCORE_RECORDED_TEXT))
		at++;
	return at;
}

/* Contents of Strings. */
static void hide_texts(struct hiding *hiding, const struct stretch *stretch)
{
	for (size_t at = 0; at < stretch->count; at++) {
		struct rcore_spans spans = {0};
		size_t end = end_of_text(stretch, at);
		if (end == at)
			continue;
		if (hiding->mode >= RCORE_REDACT_STRINGS)
			rcore_span_add(&spans, 0, end - at, RCORE_REDACTED_STRING);
		else
			rcore_redactor_text(hiding->redactor, stretch->items + at, end - at,
					    &spans);
		hide_spans(hiding, stretch, at, &spans);
		at = end;
	}
}

/*
 * No report prints what C functions have on their stacks. Hides text there, but
 * no addresses and numbers.
 */
static void hide_words(struct hiding *hiding, const struct stretch *stretch)
{
	uint64_t word, at = (stretch->start + sizeof(word) - 1) & ~(sizeof(word) - 1);
	uint64_t end = stretch->start + stretch->count;
	for (; at < end && end - at >= sizeof(word); at += sizeof(word)) {
		size_t index = at - stretch->start;
		if (!is_in(&hiding->stacks, at) || is_in(&hiding->vm_stacks, at))
			continue;
		memcpy(&word, stretch->items + index, sizeof(word));
		if (rcore_is_text_word(word))
			hide(hiding, stretch, index, index + sizeof(word));
	}
}

static void hide_stretch(struct hiding *hiding, struct stretch *stretch)
{
	struct rcore_spans spans = {0};
	if (stretch->count) {
		rcore_redactor_bytes(hiding->redactor, stretch->items, stretch->count, &spans);
		hide_spans(hiding, stretch, 0, &spans);
		hide_texts(hiding, stretch);
		hide_words(hiding, stretch);
		if (hiding->mode == RCORE_REDACT_ALL)
			hide_names(hiding, stretch);
	}
	stretch->count = 0;
}

static void add_range(struct hiding *hiding, struct ranges *ranges, uint64_t start,
		      uint64_t size)
{
	struct rcore_range *range = size ? rcore_push(ranges) : NULL;
	if (range)
		*range = (struct rcore_range){start, start + size};
	hiding->no_memory |= size && !range;
}

/* Adds the mapping that a thread's stack is in. */
static void add_stack_of(struct hiding *hiding, uint64_t base)
{
	const struct rcore_pack_source *source = hiding->source;
	for (size_t i = 0; base && i < source->segment_count; i++)
		if (base - 1 - source->segments[i].start < source->segments[i].size)
			add_range(hiding, &hiding->stacks, source->segments[i].start,
				  source->segments[i].size);
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_range *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/*
 * VM stacks are inside machine stacks. They contain VALUEs, and words of Floats
 * that look like text.
 */
static void find_stacks(struct hiding *hiding, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		add_range(hiding, &hiding->vm_stacks, fiber->vm_stack, fiber->vm_stack_size);
		add_range(hiding, &hiding->stacks, fiber->machine_stack,
			  fiber->machine_stack_size);
		if (!fiber->machine_stack_size)
			add_stack_of(hiding, fiber->stack_base);
	}
	struct ranges *all[] = {&hiding->stacks, &hiding->vm_stacks};
	for (size_t i = 0; i < 2; i++)
		if (all[i]->count)
			qsort(all[i]->items, all[i]->count, sizeof(*all[i]->items), by_start);
}

static bool add_bytes(struct stretch *stretch, const char *bytes, size_t size)
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

static void take_page(struct hiding *hiding, struct stretch *stretch,
		      const struct rcore_recorded_page *const *page)
{
	size_t start, size;
	char bytes[RCORE_RECORDER_PAGE];
	for (size_t at = 0; rcore_recorded_run(*page, &at, &start, &size);) {
		uint64_t address = (*page)->start + start;
		if (rcore_read(hiding->target->memory, address, bytes, size))
			continue;
		if (address != stretch->start + stretch->count)
			hide_stretch(hiding, stretch);
		if (!stretch->count) {
			stretch->start = address;
			stretch->pages = page;
		}
		hiding->no_memory |= !add_bytes(stretch, bytes, size);
	}
}

struct rcore_error *rcore_session_hide(const struct rcore_target *target,
				       const struct rcore_pack_source *source,
				       const struct rcore_redactor *redactor,
				       enum rcore_redact mode,
				       const struct rcore_snapshot *snapshot)
{
	struct hiding hiding = {
		.target = target, .source = source, .redactor = redactor, .mode = mode};
	struct stretch stretch = {0};
	size_t count;
	if (mode == RCORE_REDACT_NONE)
		return NULL;
	find_stacks(&hiding, snapshot);
	rcore_recorder_pause(target->recorder, true);
	const struct rcore_recorded_page *const *pages =
		rcore_recorder_pages(target->recorder, &count);
	for (size_t i = 0; pages && i < count && !hiding.no_memory; i++)
		take_page(&hiding, &stretch, &pages[i]);
	hide_stretch(&hiding, &stretch);
	rcore_recorder_pause(target->recorder, false);
	free(stretch.items);
	free(hiding.stacks.items);
	free(hiding.vm_stacks.items);
	return hiding.no_memory || !pages ? rcore_error_no_memory() : NULL;
}
