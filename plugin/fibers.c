/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "report/pick.h"

enum { PLACE_RUNS, PLACE_PARKED, PLACE_NONE };

static int32_t finish(struct rcore_plugin *plugin, struct rcore_error *err)
{
	int32_t status = rcore_plugin_settle(plugin, err);
	return status == 0 && plugin->is_partial ? 1 : status;
}

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
	struct rcore_error *err = rcore_plugin_load(plugin, &snapshot);
	for (size_t i = 0; !err && i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->tid == tid && !thread->is_ended && thread->current_fiber >= 0)
			id = snapshot->fibers[thread->current_fiber].id;
	}
	return finish(plugin, err ? err : copy(id, ret));
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
	struct rcore_pick pick = {-1, -1, NULL};
	struct rcore_error *err = rcore_plugin_load(plugin, &snapshot);
	if (!err)
		err = rcore_pick_init(snapshot, &options, &pick);
	if (!err && pick.fiber < 0)
		err = rcore_error_create(RCORE_ERROR_USAGE, "no fiber is named");
	if (!err)
		locate(plugin, snapshot, &snapshot->fibers[pick.fiber], ret);
	return finish(plugin, err);
}

static struct rcore_error *list(const struct rcore_snapshot *snapshot, const char *kind,
				FILE *out)
{
	if (strcmp(kind, "thread") == 0)
		for (size_t i = 0; i < snapshot->thread_count; i++)
			fprintf(out, "%s\n", snapshot->threads[i].id);
	else if (strcmp(kind, "fiber") == 0)
		for (size_t i = 0; i < snapshot->fiber_count; i++)
			fprintf(out, "%s\n", snapshot->fibers[i].id);
	else
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "nothing is known to complete a %s", kind);
	return NULL;
}

int32_t rcore_plugin_complete(struct rcore_plugin *plugin, const char *kind, char **ret)
{
	const struct rcore_snapshot *snapshot;
	char *text = NULL;
	size_t size;
	*ret = NULL;
	struct rcore_error *err = rcore_plugin_load(plugin, &snapshot);
	FILE *out = err ? NULL : open_memstream(&text, &size);
	if (!err && !out)
		err = rcore_error_no_memory();
	if (!err)
		err = list(snapshot, kind, out);
	if (out && fclose(out) != 0 && !err)
		err = rcore_error_no_memory();
	if (err)
		free(text);
	else
		*ret = text;
	return finish(plugin, err);
}
