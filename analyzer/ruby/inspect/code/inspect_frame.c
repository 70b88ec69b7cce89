/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "ruby/inspect/inspect.h"
#include "ruby/inspect/inspect_private.h"

bool rcore_inspect_is_open(const struct rcore_inspect *inspect, uint64_t value)
{
	for (size_t i = 0; i < inspect->frames.count; i++)
		if (inspect->frames.items[i].value == value)
			return true;
	return false;
}

struct rcore_error *rcore_inspect_open(struct rcore_inspect *inspect,
				       const struct rcore_inspect_frame *frame)
{
	const struct rcore_inspect_options *options = &inspect->options;
	uint64_t limit = inspect->frames.count < options->depth ? options->max_items : 0;
	struct rcore_inspect_frame *open = NULL;
	if (inspect->frames.count < RCORE_INSPECT_FRAME_LIMIT)
		open = rcore_push(&inspect->frames);
	if (!open) {
		if (frame->close)
			rcore_inspect_puts(inspect, frame->close);
		free(frame->state);
		if (inspect->frames.count < RCORE_INSPECT_FRAME_LIMIT)
			return rcore_error_no_memory();
		return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d nested values",
					  RCORE_INSPECT_FRAME_LIMIT);
	}
	*open = *frame;
	open->has_key = inspect->has_key;
	open->limit = frame->is_whole || frame->count < limit ? frame->count : limit;
	return NULL;
}

void rcore_inspect_close(struct rcore_inspect *inspect)
{
	struct rcore_inspect_frame *frame = &inspect->frames.items[--inspect->frames.count];
	if (frame->close)
		rcore_inspect_puts(inspect, frame->close);
	free(frame->state);
}

bool rcore_inspect_item(struct rcore_inspect *inspect, struct rcore_inspect_frame *frame)
{
	const char *separator = frame->index ? ", " : "";
	bool has_room = frame->is_whole || inspect->text.count < inspect->options.max_text;
	if (frame->index < frame->limit && has_room) {
		rcore_inspect_puts(inspect, separator);
		frame->index++;
		return true;
	}
	if (frame->index < frame->count)
		rcore_inspect_printf(inspect, "%s... (%" PRIu64 " more)", separator,
				     frame->count - frame->index);
	return false;
}

static uint64_t type_of(struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t flags;
	if (rcore_immediate(ruby, value) != RCORE_NO_IMMEDIATE ||
	    rcore_read_field(ruby->memory, value, &ruby->layout->basic.flags, &flags))
		return RCORE_T_NONE;
	return flags & RCORE_T_MASK;
}

bool rcore_inspect_is_text(struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t type = type_of(ruby, value);
	return rcore_immediate(ruby, value) == RCORE_STATIC_SYMBOL || type == RCORE_T_SYMBOL ||
	       type == RCORE_T_STRING;
}

static bool is_number(struct rcore_ruby *ruby, uint64_t value)
{
	enum rcore_immediate immediate = rcore_immediate(ruby, value);
	uint64_t type = type_of(ruby, value);
	return immediate == RCORE_FIXNUM || immediate == RCORE_FLONUM ||
	       type == RCORE_T_FLOAT || type == RCORE_T_BIGNUM || type == RCORE_T_RATIONAL ||
	       type == RCORE_T_COMPLEX;
}

bool rcore_inspect_hide_number(struct rcore_inspect *inspect, uint64_t value)
{
	static const char stars[] = "********";
	if (!inspect->has_key || !inspect->ruby->hides_text || !is_number(inspect->ruby, value))
		return false;
	rcore_inspect_puts(inspect, stars);
	inspect->ruby->hidden_count++;
	return true;
}
