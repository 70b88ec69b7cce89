/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_hide.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "ruby/ruby.h"
#include "session/pack/pack_stretch.h"
#include "target/pack/pack_notes.h"
#include "target/segment_index.h"

struct ranges {
	struct rcore_range *items;
	size_t count, capacity;
};

struct hiding {
	const struct rcore_target *target;
	const struct rcore_redactor *redactor;
	enum rcore_redact mode;
	struct rcore_known_secrets *taken;
	struct rcore_segment_index segments;
	struct ranges stacks, vm_stacks; /* by start; they do not overlap */
	bool no_memory;
};

static bool is_in(const struct ranges *ranges, uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(ranges->count, middle,
					   ranges->items[middle].end <= address);
	return low < ranges->count && ranges->items[low].start <= address;
}

/*
 * Names stay readable even if their bytes are also part of something else,
 * because every report prints them.
 */
static void hide(struct hiding *hiding, const struct rcore_stretch *stretch, size_t start,
		 size_t end)
{
	bool keeps_names = hiding->mode < RCORE_REDACT_ALL;
	for (size_t at = start; at < end; at++)
		if (!rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_WORD) &&
		    !(keeps_names && rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_NAME)))
			rcore_recorder_mark(hiding->target->recorder, RCORE_RECORDED_HIDDEN,
					    stretch->start + at, 1);
}

static void hide_names(struct hiding *hiding, const struct rcore_stretch *stretch)
{
	for (size_t at = 0; at < stretch->count; at++)
		if (rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_NAME))
			hide(hiding, stretch, at, at + 1);
}

static void hide_spans(struct hiding *hiding, const struct rcore_stretch *stretch, size_t at,
		       struct rcore_spans *spans)
{
	hiding->no_memory |= spans->no_memory;
	for (size_t i = 0; i < spans->count; i++)
		hide(hiding, stretch, at + spans->items[i].start, at + spans->items[i].end);
	rcore_spans_deinit(spans);
}

static size_t end_of_text(const struct rcore_stretch *stretch, size_t at)
{
	while (at < stretch->count && rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_TEXT))
		at++;
	return at;
}

/*
 * Hides the contents of Strings or, depending on the mode, only the secrets in
 * them.
 */
static void hide_texts(struct hiding *hiding, const struct rcore_stretch *stretch)
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
 * Hides text on the stacks of C functions, because no report prints it. Keeps
 * addresses and numbers.
 */
static void hide_words(struct hiding *hiding, const struct rcore_stretch *stretch)
{
	uint64_t word, at = (stretch->start + sizeof(word) - 1) & ~(sizeof(word) - 1);
	uint64_t end = stretch->start + stretch->count;
	for (; at < end && end - at >= sizeof(word); at += sizeof(word)) {
		size_t index = at - stretch->start;
		if (!is_in(&hiding->stacks, at) || is_in(&hiding->vm_stacks, at))
			continue;
		memcpy(&word, stretch->items + index, sizeof(word));
		unsigned text = rcore_text_bytes(word);
		for (size_t i = 0; text >> i; i++)
			if (text >> i & 1)
				hide(hiding, stretch, index + i, index + i + 1);
	}
}

/*
 * Whether this kind is a secret wherever it is. Random characters are not:
 * paths and checksums contain them, too.
 */
static bool is_taken(enum rcore_redacted kind)
{
	static const bool kinds[RCORE_REDACTED_KINDS] = {
		[RCORE_REDACTED_KEY] = true,      [RCORE_REDACTED_TOKEN] = true,
		[RCORE_REDACTED_JWT] = true,      [RCORE_REDACTED_PEM] = true,
		[RCORE_REDACTED_BEARER] = true,   [RCORE_REDACTED_EMAIL] = true,
		[RCORE_REDACTED_USERINFO] = true, [RCORE_REDACTED_CARD] = true,
	};
	return kinds[kind];
}

/* Collects the secrets in a String's contents. */
static void take_secrets(struct hiding *hiding, const char *text, size_t size)
{
	struct rcore_spans spans = {0};
	rcore_redactor_text(hiding->redactor, text, size, &spans);
	for (size_t i = 0; i < spans.count; i++) {
		const struct rcore_span *span = &spans.items[i];
		if (is_taken(span->kind))
			hiding->no_memory |= !rcore_known_secrets_add(
				hiding->taken, text + span->start, span->end - span->start);
	}
	hiding->no_memory |= spans.no_memory;
	rcore_spans_deinit(&spans);
}

static bool take_stretch(void *context, const struct rcore_stretch *stretch)
{
	struct hiding *hiding = context;
	for (size_t at = 0; at < stretch->count; at++) {
		size_t end = end_of_text(stretch, at);
		if (end == at)
			continue;
		take_secrets(hiding, stretch->items + at, end - at);
		at = end;
	}
	return !hiding->no_memory;
}

/*
 * Hides secrets outside Strings. Freed memory may still contain a String's
 * bytes, and a decoder may read it together with what it needs. hide_texts()
 * checks each String by its own contents, as a report does.
 */
static void hide_taken(struct hiding *hiding, const struct rcore_stretch *stretch)
{
	struct rcore_spans spans = {0};
	rcore_known_secrets_find(hiding->taken, stretch->items, stretch->count, &spans);
	for (size_t i = 0; i < spans.count; i++)
		for (size_t at = spans.items[i].start; at < spans.items[i].end; at++)
			if (!rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_TEXT))
				hide(hiding, stretch, at, at + 1);
	hiding->no_memory |= spans.no_memory;
	rcore_spans_deinit(&spans);
}

static bool hide_stretch(void *context, const struct rcore_stretch *stretch)
{
	struct hiding *hiding = context;
	struct rcore_spans spans = {0};
	rcore_redactor_bytes(hiding->redactor, stretch->items, stretch->count, &spans);
	hide_spans(hiding, stretch, 0, &spans);
	hide_taken(hiding, stretch);
	hide_texts(hiding, stretch);
	hide_words(hiding, stretch);
	if (hiding->mode == RCORE_REDACT_ALL)
		hide_names(hiding, stretch);
	return !hiding->no_memory;
}

static void add_range(struct hiding *hiding, struct ranges *ranges, uint64_t start,
		      uint64_t size)
{
	struct rcore_range *range = size ? rcore_push(ranges) : NULL;
	if (range)
		*range = (struct rcore_range){start, size < UINT64_MAX - start ? start + size
									       : UINT64_MAX};
	hiding->no_memory |= size && !range;
}

/* Adds the mapping that contains a thread's stack. */
static void add_stack_of(struct hiding *hiding, uint64_t base)
{
	uint64_t start, end;
	if (base && rcore_segment_index_find(&hiding->segments, RCORE_SEGMENT_WHOLE, base - 1,
					     &start, &end))
		add_range(hiding, &hiding->stacks, start, end - start);
}

/* The stacks and segments of a hostile core may contain each other. */
static void join(struct ranges *ranges)
{
	size_t kept = 0;
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), rcore_ascending);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct rcore_range *range = &ranges->items[i];
		struct rcore_range *last = kept ? &ranges->items[kept - 1] : NULL;
		if (!last || range->start >= last->end)
			ranges->items[kept++] = *range;
		else if (range->end > last->end)
			last->end = range->end;
	}
	ranges->count = kept;
}

/*
 * Keeps the ranges that are inside one of `outer`. If a VM stack seems to be
 * larger, its size is damaged, and nothing shows which words are Floats.
 */
static void keep_inner(struct ranges *ranges, const struct ranges *outer)
{
	size_t kept = 0;
	for (size_t i = 0; i < ranges->count; i++) {
		const struct rcore_range range = ranges->items[i];
		size_t at = RCORE_PARTITION_POINT(outer->count, middle,
						  outer->items[middle].end <= range.start);
		if (at < outer->count && outer->items[at].start <= range.start &&
		    range.end <= outer->items[at].end && range.end < UINT64_MAX)
			ranges->items[kept++] = range;
	}
	ranges->count = kept;
}

/*
 * VM stacks are inside machine stacks. They contain VALUEs, and Floats, whose
 * words may look like text.
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
	join(&hiding->stacks);
	keep_inner(&hiding->vm_stacks, &hiding->stacks);
	join(&hiding->vm_stacks);
}

struct rcore_error *
rcore_session_hide(const struct rcore_target *target, const struct rcore_pack_source *source,
		   const struct rcore_redactor *redactor, enum rcore_redact mode,
		   const struct rcore_snapshot *snapshot, struct rcore_known_secrets *taken)
{
	struct hiding hiding = {
		.target = target, .redactor = redactor, .mode = mode, .taken = taken};
	if (mode == RCORE_REDACT_NONE)
		return NULL;
	hiding.no_memory = !rcore_segment_index_init(source->segments, source->segment_count,
						     &hiding.segments);
	if (!hiding.no_memory)
		find_stacks(&hiding, snapshot);
	rcore_segment_index_deinit(&hiding.segments);
	struct rcore_error *err =
		rcore_stretches(target->recorder, target->memory, take_stretch, &hiding);
	if (!err)
		err = rcore_stretches(target->recorder, target->memory, hide_stretch, &hiding);
	free(hiding.stacks.items);
	free(hiding.vm_stacks.items);
	return !err && hiding.no_memory ? rcore_error_no_memory() : err;
}
