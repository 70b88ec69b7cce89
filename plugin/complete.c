/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "bridge.h"
#include "session/layout/examine.h"

typedef struct rcore_error *list(struct rcore_plugin *plugin, const char *begun, FILE *out);

static struct rcore_error *list_threads(struct rcore_plugin *plugin, const char *begun,
					FILE *out)
{
	const struct rcore_snapshot *snapshot;
	struct rcore_error *err =
		rcore_plugin_load(plugin, !plugin->views[0].snapshot, &snapshot);
	for (size_t i = 0; !err && i < snapshot->thread_count; i++)
		if (strncasecmp(snapshot->threads[i].id, begun, strlen(begun)) == 0)
			fprintf(out, "%s\n", snapshot->threads[i].id);
	return err;
}

static struct rcore_error *list_fibers(struct rcore_plugin *plugin, const char *begun,
				       FILE *out)
{
	const struct rcore_snapshot *snapshot;
	struct rcore_error *err =
		rcore_plugin_load(plugin, !plugin->views[0].snapshot, &snapshot);
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++)
		if (strncasecmp(snapshot->fibers[i].id, begun, strlen(begun)) == 0)
			fprintf(out, "%s\n", snapshot->fibers[i].id);
	return err;
}

static struct rcore_error *list_constants(struct rcore_plugin *plugin, const char *begun,
					  FILE *out)
{
	struct rcore_view *view;
	struct rcore_names *names;
	struct rcore_error *err = rcore_plugin_view(plugin, false, &view);
	if (!err)
		err = rcore_constant_names(view->session, begun, &names);
	if (err)
		return err;
	for (size_t i = 0; i < names->count; i++)
		fprintf(out, "%s\n", names->items[i]);
	rcore_names_free(names);
	return NULL;
}

static const struct {
	const char *kind;
	list *list;
} lists[] = {
	{"thread", list_threads},
	{"fiber", list_fibers},
	{"constant", list_constants},
};

static struct rcore_error *complete(struct rcore_plugin *plugin, const char *kind,
				    const char *begun, FILE *out)
{
	for (size_t i = 0; i < RCORE_COUNT(lists); i++)
		if (strcmp(lists[i].kind, kind) == 0)
			return lists[i].list(plugin, begun, out);
	return rcore_error_create(RCORE_ERROR_USAGE, "cannot complete a \"%s\"", kind);
}

int32_t rcore_plugin_complete(struct rcore_plugin *plugin, const char *kind, const char *begun,
			      char **ret)
{
	char *text = NULL;
	size_t size;
	*ret = NULL;
	plugin->is_partial = false;
	FILE *out = rcore_open_text(&text, &size);
	struct rcore_error *err =
		out ? complete(plugin, kind, begun, out) : rcore_error_no_memory();
	if (out && fclose(out) != 0 && !err)
		err = rcore_error_no_memory();
	if (err)
		free(text);
	else
		*ret = text;
	return rcore_plugin_finish(plugin, err);
}
