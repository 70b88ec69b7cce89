/* SPDX-License-Identifier: MIT */
#include "triage/summary_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"

struct rcore_error *rcore_fiber_list_add(struct rcore_fiber_list *list, int fiber)
{
	int *item = rcore_push(list);
	if (!item)
		return rcore_error_no_memory();
	*item = fiber;
	return NULL;
}

struct rcore_error *rcore_fibers_by_address_add(struct rcore_fibers_by_address *fibers,
						uint64_t address, int fiber, bool is_working)
{
	int index = rcore_address_map_get(&fibers->map, address);
	if (index < 0) {
		struct rcore_fibers_at *found = rcore_push(fibers);
		index = (int)fibers->count - 1;
		if (!found || !rcore_address_map_put(&fibers->map, address, index))
			return rcore_error_no_memory();
		found->address = address;
	}
	struct rcore_fibers_at *found = &fibers->items[index];
	struct rcore_error *err = rcore_fiber_list_add(&found->all, fiber);
	return err || !is_working ? err : rcore_fiber_list_add(&found->working, fiber);
}

void rcore_fibers_by_address_deinit(struct rcore_fibers_by_address *fibers)
{
	for (size_t i = 0; i < fibers->count; i++) {
		free(fibers->items[i].all.items);
		free(fibers->items[i].working.items);
	}
	free(fibers->items);
	rcore_address_map_deinit(&fibers->map);
}

struct rcore_error *rcore_summary_add(struct rcore_summary *summary,
				      const struct rcore_summary_line *line, FILE *out,
				      char **text)
{
	struct rcore_arena *arena = &summary->snapshot->arena;
	bool is_written = out && !fclose(out);
	struct rcore_summary_line *kept = is_written ? rcore_push(&summary->lines) : NULL;
	if (kept) {
		*kept = *line;
		kept->text = rcore_arena_strdup(arena, *text);
		kept->fibers = rcore_arena_array(arena, line->fiber_count, sizeof(int));
	}
	free(*text);
	if (!kept || !kept->text || !kept->fibers)
		return rcore_error_no_memory();
	if (line->fiber_count)
		memcpy(kept->fibers, line->fibers, line->fiber_count * sizeof(int));
	return NULL;
}
