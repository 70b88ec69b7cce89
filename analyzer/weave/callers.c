/* SPDX-License-Identifier: MIT */
#include "weave/callers.h"

#include "base/count.h"

enum { LIMIT = 256 };

static unsigned kind_of(const struct rcore_frame *frame)
{
	return frame->kind == RCORE_FRAME_IFUNC;
}

static uint64_t start_of(const struct rcore_native_frame *native)
{
	return native->part_of ? native->part_of : native->function_start;
}

void rcore_callers_deinit(struct rcore_callers *callers)
{
	for (size_t i = 0; i < RCORE_COUNT(callers->of); i++)
		rcore_address_map_deinit(&callers->of[i]);
	*callers = (struct rcore_callers){0};
}

size_t rcore_caller_of(const struct rcore_fiber *fiber, size_t native)
{
	do
		native++;
	while (native < fiber->native_count && fiber->native[native].is_inlined);
	return native;
}

bool rcore_callers_add(struct rcore_callers *callers, const struct rcore_native_frame *native,
		       const struct rcore_frame *frame, uint64_t activation)
{
	struct rcore_address_map *map = &callers->of[kind_of(frame)];
	uint64_t start = start_of(native);
	if (!native->is_interpreter || !start || start == activation ||
	    callers->count == LIMIT || rcore_address_map_get(map, start) >= 0)
		return true;
	callers->count++;
	return rcore_address_map_put(map, start, 0);
}

bool rcore_is_caller(const struct rcore_callers *callers,
		     const struct rcore_native_frame *native, const struct rcore_frame *frame)
{
	uint64_t start = start_of(native);
	if (!start || native->is_inlined)
		return false;
	for (unsigned kind = 0; kind < RCORE_COUNT(callers->of); kind++)
		if ((!frame || kind == kind_of(frame)) &&
		    rcore_address_map_get(&callers->of[kind], start) >= 0)
			return true;
	return false;
}
