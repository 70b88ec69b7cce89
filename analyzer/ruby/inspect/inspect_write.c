/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/inspect/inspect_private.h"

void rcore_inspect_problem(struct rcore_inspect *inspect, struct rcore_error *err)
{
	if (!err)
		return;
	if (err->code == RCORE_ERROR_NO_MEMORY)
		inspect->out_of_memory = true;
	else if (!inspect->problem_count++ && !(inspect->problem = strdup(err->message)))
		inspect->out_of_memory = true;
	rcore_error_free(err);
}

static bool reserve(struct rcore_inspect *inspect, size_t length)
{
	size_t wanted = inspect->text.count + length + 1;
	if (wanted <= inspect->text.capacity)
		return true;
	size_t capacity = inspect->text.capacity ? inspect->text.capacity * 2 : 256;
	if (capacity < wanted)
		capacity = wanted;
	char *grown = realloc(inspect->text.items, capacity);
	if (!grown) {
		inspect->out_of_memory = true;
		return false;
	}
	inspect->text.items = grown;
	inspect->text.capacity = capacity;
	return true;
}

void rcore_inspect_write(struct rcore_inspect *inspect, const char *bytes, size_t length)
{
	/* Room for what closes open brackets. */
	enum { SLACK = 4096 };
	size_t limit = RCORE_INSPECT_TEXT_LIMIT;
	if (inspect->text.count + length > limit) {
		inspect->full = true;
		if (inspect->text.count + length > limit + SLACK)
			return;
	}
	if (!reserve(inspect, length))
		return;
	memcpy(inspect->text.items + inspect->text.count, bytes, length);
	inspect->text.count += length;
}

void rcore_inspect_puts(struct rcore_inspect *inspect, const char *text)
{
	rcore_inspect_write(inspect, text, strlen(text));
}

void rcore_inspect_printf(struct rcore_inspect *inspect, const char *format, ...)
{
	char *text;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		inspect->out_of_memory = true;
		return;
	}
	rcore_inspect_write(inspect, text, (size_t)length);
	free(text);
}

void rcore_inspect_address(struct rcore_inspect *inspect, uint64_t value)
{
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	rcore_inspect_printf(inspect, ":0x%016" PRIx64, value);
}

void rcore_inspect_class_name(struct rcore_inspect *inspect, uint64_t value)
{
	const char *name = NULL;
	struct rcore_error *err = rcore_value_class_name(inspect->ruby, value, &name);
	rcore_inspect_puts(inspect, name ? name : "?");
	rcore_inspect_problem(inspect, err);
}
