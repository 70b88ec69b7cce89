/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void rcore_names_deinit(struct rcore_names *names)
{
	rcore_address_map_deinit(&names->at);
	free(names->copies.items);
}

static bool copy(struct rcore_names *names, const char **text)
{
	if (!*text)
		return true;
	int index = rcore_address_map_get(&names->at, (uintptr_t)*text);
	if (index < 0) {
		const char **slot = rcore_push(&names->copies);
		index = (int)names->copies.count - 1;
		if (!slot || !(*slot = rcore_arena_strdup(names->arena, *text)) ||
		    !rcore_address_map_put(&names->at, (uintptr_t)*text, index))
			return false;
	}
	*text = names->copies.items[index];
	return true;
}

bool rcore_names_copy(struct rcore_names *names, struct rcore_native_frame *frame)
{
	return copy(names, &frame->function) && copy(names, &frame->symbol) &&
	       copy(names, &frame->module) && copy(names, &frame->gem) &&
	       copy(names, &frame->file);
}
