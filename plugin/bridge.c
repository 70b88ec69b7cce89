/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "target/cache.h"
#include "target/core.h"

enum { STATUS_COMPLETE, STATUS_PARTIAL, STATUS_FAILED, STATUS_NOT_RUBY, STATUS_USAGE = 64 };

uint32_t rcore_plugin_abi(void)
{
	return RCORE_PLUGIN_ABI;
}

const char *rcore_plugin_version(void)
{
	return RCORE_VERSION;
}

static enum rcore_fault read_target(struct rcore_memory *memory, uint64_t address, void *buffer,
				    size_t size)
{
	struct rcore_plugin *plugin = (struct rcore_plugin *)memory;
	if (address + size < address)
		return RCORE_FAULT_UNMAPPED;
	if (plugin->segments.count) {
		enum rcore_fault fault =
			rcore_segments_read(&plugin->segments, address, buffer, size);
		if (fault)
			return fault;
	}
	if (plugin->read(plugin->context, address, buffer, size) == 0)
		return RCORE_FAULT_NONE;
	return plugin->is_live ? RCORE_FAULT_UNMAPPED : RCORE_FAULT_IO;
}

struct rcore_plugin *rcore_plugin_open(rcore_plugin_read read, void *context)
{
	struct rcore_plugin *plugin = calloc(1, sizeof(*plugin));
	if (plugin) {
		plugin->memory.read = read_target;
		plugin->read = read;
		plugin->context = context;
	}
	return plugin;
}

void rcore_plugin_close(struct rcore_plugin *plugin)
{
	if (!plugin)
		return;
	rcore_error_free(plugin->error);
	rcore_arena_deinit(&plugin->arena);
	free(plugin->threads.items);
	free(plugin->mappings.items);
	rcore_segments_deinit(&plugin->segments);
	free(plugin->auxv.items);
	free(plugin->search_paths.items);
	free(plugin);
}

int32_t rcore_plugin_settle(struct rcore_plugin *plugin, struct rcore_error *err)
{
	rcore_error_free(plugin->error);
	plugin->error = err;
	if (!err)
		return STATUS_COMPLETE;
	return err->code == RCORE_ERROR_NOT_RUBY ? STATUS_NOT_RUBY
	       : err->code == RCORE_ERROR_USAGE  ? STATUS_USAGE
						 : STATUS_FAILED;
}

static struct rcore_error *gather(struct rcore_plugin *plugin)
{
	struct rcore_process *process = &plugin->process;
	process->threads = plugin->threads.items;
	process->thread_count = plugin->threads.count;
	process->mappings = plugin->mappings.items;
	process->mapping_count = plugin->mappings.count;
	process->auxv = plugin->auxv.items ? plugin->auxv.items[0] : NULL;
	process->auxv_pairs = plugin->auxv.count;
	plugin->options.search_paths = plugin->search_paths.items;
	plugin->options.search_path_count = plugin->search_paths.count;
	rcore_process_order_mappings(process);
	plugin->mappings.count = process->mapping_count;
	rcore_process_settle_signal(process, plugin->is_live ||
						     rcore_same_text(process->producer, "gdb"));
	if (plugin->lost_bytes)
		process->note = rcore_core_cut_off(&plugin->arena, plugin->lost_bytes,
						   plugin->saved_bytes);
	return rcore_segments_ready(&plugin->segments) ? NULL : rcore_error_no_memory();
}

static struct rcore_error *print(const struct rcore_snapshot *snapshot, uint32_t flags,
				 const char *thread, const char *fiber, char **ret)
{
	const struct rcore_report_options options = {
		.all = flags & RCORE_PLUGIN_ALL,
		.verbose = flags & RCORE_PLUGIN_VERBOSE,
		.thread = thread,
		.fiber = fiber,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	struct rcore_error *err = flags & RCORE_PLUGIN_JSON
					  ? rcore_report_json(snapshot, &options, out)
					  : rcore_report_text(snapshot, &options, out);
	if (fclose(out) != 0 && !err)
		err = rcore_error_no_memory();
	if (err)
		free(text);
	else
		*ret = text;
	return err;
}

int32_t rcore_plugin_fibers(struct rcore_plugin *plugin, uint32_t flags, const char *thread,
			    const char *fiber, char **ret)
{
	struct rcore_cache *cache = NULL;
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *failure = NULL;
	*ret = NULL;
	struct rcore_error *err = gather(plugin);
	if (!err)
		err = rcore_cache_open(&plugin->memory, NULL, &cache);
	if (!err)
		err = rcore_open_memory(&plugin->process, rcore_cache_memory(cache),
					&plugin->options, &session);
	if (!err)
		err = rcore_load_partial(session, &snapshot, &failure);
	if (!err)
		err = print(snapshot, flags, thread, fiber, ret);
	bool is_partial = snapshot && snapshot->incomplete;
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	rcore_cache_close(cache);
	if (err)
		rcore_error_free(failure);
	int32_t status = rcore_plugin_settle(plugin, err ? err : failure);
	return status == STATUS_COMPLETE && is_partial ? STATUS_PARTIAL : status;
}

void rcore_plugin_text_free(char *text)
{
	free(text);
}

const char *rcore_plugin_error(const struct rcore_plugin *plugin)
{
	return plugin->error ? plugin->error->message : NULL;
}
