/* SPDX-License-Identifier: MIT */
#include "weave/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "ruby/iseq/frame_flags.h"
#include "weave/learn.h"

static bool add(struct rcore_events *events, uint64_t function, size_t index)
{
	struct rcore_event *event = rcore_push(events);
	if (event)
		*event = (struct rcore_event){function, index};
	return event;
}

bool rcore_loads_extension(const struct rcore_frame *frame)
{
	return frame->kind == RCORE_FRAME_RUBY && frame->under_construction &&
	       frame->flags & RCORE_FRAME_FINISH;
}

/*
 * load_ext() of load.c calls one of these functions, which every libruby
 * exports. They call the extension's Init function.
 */
static bool is_loader(const struct rcore_native_frame *frame)
{
	return frame->is_interpreter && frame->function &&
	       (!strcmp(frame->function, "dln_load") ||
		!strcmp(frame->function, "dln_load_feature"));
}

static bool list_ruby(const struct rcore_fiber *fiber, struct rcore_events *ruby)
{
	bool has_room = true;
	for (size_t i = fiber->frame_count; has_room && i-- > 0;) {
		const struct rcore_frame *frame = &fiber->frames[i];
		if (rcore_enters_interpreter(frame))
			has_room = add(ruby, 0, i);
		else if (frame->cfunc)
			has_room = add(ruby, frame->cfunc, i);
		else if (rcore_loads_extension(frame))
			has_room = add(ruby, RCORE_LOADER, i);
	}
	return has_room;
}

/*
 * Returns the functions of `ruby` in ascending order, malloc'ed, or NULL if
 * memory is short.
 */
static uint64_t *functions_of(const struct rcore_events *ruby, size_t *ret_count)
{
	uint64_t *functions = rcore_calloc(ruby->count, sizeof(*functions));
	*ret_count = 0;
	for (size_t i = 0; functions && i < ruby->count; i++)
		if (ruby->items[i].function)
			functions[(*ret_count)++] = ruby->items[i].function;
	if (functions)
		qsort(functions, *ret_count, sizeof(*functions), rcore_ascending);
	return functions;
}

/*
 * A native frame counts as a C method only if one of the control frames has
 * that function.
 */
static bool list_native(const struct rcore_fiber *fiber, uint64_t activation,
			const struct rcore_events *ruby, struct rcore_events *native)
{
	size_t count;
	uint64_t *functions = functions_of(ruby, &count);
	bool has_room = functions;
	for (size_t i = fiber->native_count; has_room && i-- > 0;) {
		const struct rcore_native_frame *frame = &fiber->native[i];
		uint64_t start = is_loader(frame) ? RCORE_LOADER : frame->function_start;
		if (frame->is_inlined || !start)
			continue;
		if (start == activation || (activation && frame->part_of == activation))
			has_room = add(native, 0, i);
		else if (bsearch(&start, functions, count, sizeof(*functions), rcore_ascending))
			has_room = add(native, start, i);
		else if (frame->part_of && bsearch(&frame->part_of, functions, count,
						   sizeof(*functions), rcore_ascending))
			has_room = add(native, frame->part_of, i);
	}
	free(functions);
	return has_room;
}

bool rcore_list_events(const struct rcore_fiber *fiber, uint64_t activation,
		       struct rcore_events *ruby, struct rcore_events *native)
{
	ruby->count = native->count = 0;
	return list_ruby(fiber, ruby) && list_native(fiber, activation, ruby, native);
}
