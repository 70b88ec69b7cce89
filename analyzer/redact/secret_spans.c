/* SPDX-License-Identifier: MIT */
#include "base/grow.h"
#include "redact/secrets.h"

void rcore_span_add(struct rcore_spans *spans, size_t start, size_t end,
		    enum rcore_redacted kind)
{
	if (start >= end)
		return;
	struct rcore_span *span = rcore_push(spans);
	if (span)
		*span = (struct rcore_span){start, end, kind};
	else
		spans->no_memory = true;
}

void rcore_spans_deinit(struct rcore_spans *spans)
{
	free(spans->items);
	*spans = (struct rcore_spans){0};
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_span *a = left, *b = right;
	return a->start != b->start ? (a->start < b->start ? -1 : 1)
				    : (int)a->kind - (int)b->kind;
}

void rcore_spans_settle(struct rcore_spans *spans)
{
	size_t kept = 0;
	if (spans->count)
		qsort(spans->items, spans->count, sizeof(*spans->items), by_start);
	for (size_t i = 0; i < spans->count; i++) {
		struct rcore_span *last = kept ? &spans->items[kept - 1] : NULL;
		const struct rcore_span *span = &spans->items[i];
		if (last && span->start <= last->end)
			last->end = span->end > last->end ? span->end : last->end;
		else
			spans->items[kept++] = *span;
	}
	spans->count = kept;
}
