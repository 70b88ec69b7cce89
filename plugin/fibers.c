/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "report/pick.h"

enum { PLACE_RUNS, PLACE_PARKED, PLACE_NONE };

static struct rcore_error *copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? rcore_error_no_memory() : NULL;
}

int32_t rcore_plugin_current_fiber(struct rcore_plugin *plugin, int32_t tid, char **ret)
{
	const struct rcore_snapshot *snapshot;
	const char *id = NULL;
	*ret = NULL;
	/*
	 * Native stacks are not needed. If they were unwound already, that view
	 * is used and nothing is read twice.
	 */
	struct rcore_error *err =
		rcore_plugin_load(plugin, !plugin->views[0].snapshot, &snapshot);
	for (size_t i = 0; !err && i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->tid == tid && !thread->is_ended && thread->current_fiber >= 0)
			id = snapshot->fibers[thread->current_fiber].id;
	}
	return rcore_plugin_finish(plugin, err ? err : copy(id, ret));
}

static void locate(struct rcore_plugin *plugin, const struct rcore_snapshot *snapshot,
		   const struct rcore_fiber *fiber, struct rcore_plugin_place *ret)
{
	*ret = (struct rcore_plugin_place){.state = PLACE_NONE};
	memcpy(ret->id, fiber->id, sizeof(fiber->id));
	if (fiber->thread >= 0)
		ret->tid = snapshot->threads[fiber->thread].tid;
	if (fiber->is_current)
		ret->state = PLACE_RUNS;
	else if (rcore_fiber_registers(plugin->views[0].session, fiber, ret->registers,
				       &ret->known))
		ret->state = PLACE_PARKED;
}

int32_t rcore_plugin_locate_fiber(struct rcore_plugin *plugin, const char *name,
				  struct rcore_plugin_place *ret)
{
	const struct rcore_snapshot *snapshot;
	const struct rcore_report_options options = {.fiber = name};
	struct rcore_pick pick = {.thread = -1, .fiber = -1};
	struct rcore_error *err = rcore_plugin_load(plugin, false, &snapshot);
	if (!err)
		err = rcore_pick_init(snapshot, &options, &pick);
	if (!err && pick.fiber < 0)
		err = rcore_error_create(RCORE_ERROR_USAGE, "missing fiber");
	if (!err)
		locate(plugin, snapshot, &snapshot->fibers[pick.fiber], ret);
	return rcore_plugin_finish(plugin, err);
}
