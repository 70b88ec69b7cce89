/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "base/arena.h"
#include "redact/known_secrets.h"
#include "redact/redact.h"

/* Text that is to be redacted: a message, an inspect, a command line. What was redacted stays as it is. */

static void check_spans(struct rcore_spans *spans, size_t size)
{
	rcore_spans_settle(spans);
	for (size_t i = 0; i < spans->count; i++)
		if (spans->items[i].start >= spans->items[i].end ||
		    spans->items[i].end > size ||
		    (i && spans->items[i].start <= spans->items[i - 1].end))
			abort();
	rcore_spans_deinit(spans);
}

static char *redact(const char *text)
{
	struct rcore_local local = {.variable = {.name = "x", .value.text = text}};
	struct rcore_frame_values values = {.locals = &local, .local_count = 1};
	struct rcore_frame frame = {.values = &values};
	struct rcore_fiber fiber = {.frames = &frame, .frame_count = 1};
	struct rcore_snapshot snapshot = {
		.fibers = &fiber, .fiber_count = 1, .arguments = text};
	struct rcore_redactor *redactor = rcore_redactor_new(RCORE_REDACT_SECRETS);
	if (!redactor || rcore_redact_snapshot(redactor, &snapshot))
		abort();
	char *left = strdup(local.variable.value.text);
	rcore_redactor_free(redactor);
	rcore_arena_deinit(&snapshot.arena);
	return left;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct rcore_spans spans = {0};
	struct rcore_known_secrets *known = rcore_known_secrets_new();
	const char *text = (const char *)bytes;
	size_t half = size / 2;
	if (!known || !rcore_known_secrets_add(known, text, half))
		abort();
	rcore_secret_patterns(text, size, &spans);
	rcore_secret_keys(text, size, &spans);
	rcore_known_secrets_find(known, text + half, size - half, &spans);
	check_spans(&spans, size);
	rcore_known_secrets_free(known);
	char *copy = strndup(text, size);
	free(redact(copy));
	free(copy);
	return 0;
}
