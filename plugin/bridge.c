/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"

enum { SPECIAL = 2 }; /* in views[] */

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
	if (plugin->shown) {
		enum rcore_fault fault =
			rcore_read(rcore_core_memory(plugin->shown), address, buffer, size);
		if (fault)
			return fault;
	}
	if (plugin->is_interrupted)
		return RCORE_FAULT_IO;
	int32_t answer = plugin->read(plugin->context, address, buffer, size);
	if (answer == RCORE_PLUGIN_READ)
		return RCORE_FAULT_NONE;
	plugin->is_interrupted = answer != RCORE_PLUGIN_CANNOT_READ;
	return plugin->process.is_debugged ? RCORE_FAULT_UNMAPPED : RCORE_FAULT_IO;
}

struct rcore_plugin *rcore_plugin_open(rcore_plugin_read read, void *context)
{
	struct rcore_plugin *plugin = calloc(1, sizeof(*plugin));
	if (plugin) {
		plugin->memory.read = read_target;
		plugin->read = read;
		plugin->context = context;
		plugin->ids = rcore_ids_open();
		plugin->choice = rcore_choice_open();
	}
	if (plugin && (!plugin->ids || !plugin->choice)) {
		rcore_plugin_close(plugin);
		return NULL;
	}
	return plugin;
}

static void drop_view(struct rcore_view *view)
{
	rcore_view_deinit(view);
	rcore_close(view->session);
	view->session = NULL;
}

static bool lacks_memory(const struct rcore_view *view)
{
	return (view->snapshot && view->snapshot->lacks_memory) ||
	       (view->failure && view->failure->code == RCORE_ERROR_NO_MEMORY);
}

void rcore_plugin_retry(struct rcore_plugin *plugin)
{
	for (size_t i = 0; i < RCORE_COUNT(plugin->views); i++)
		if (lacks_memory(&plugin->views[i]))
			drop_view(&plugin->views[i]);
}

static void drop_views(struct rcore_plugin *plugin)
{
	for (size_t i = 0; i < RCORE_COUNT(plugin->views); i++)
		drop_view(&plugin->views[i]);
	rcore_cache_close(plugin->cache);
	plugin->cache = NULL;
}

void rcore_plugin_forget(struct rcore_plugin *plugin)
{
	drop_views(plugin);
	rcore_core_close(plugin->shown);
	free(plugin->threads.items);
	free(plugin->mappings.items);
	rcore_segments_deinit(&plugin->segments);
	free(plugin->auxv.items);
	free(plugin->search_paths.items);
	rcore_arena_deinit(&plugin->arena);
	rcore_error_free(plugin->error);
	*plugin = (struct rcore_plugin){.memory = plugin->memory,
					.read = plugin->read,
					.context = plugin->context,
					.ids = plugin->ids,
					.choice = plugin->choice};
}

void rcore_plugin_close(struct rcore_plugin *plugin)
{
	if (!plugin)
		return;
	rcore_plugin_forget(plugin);
	rcore_ids_close(plugin->ids);
	rcore_choice_close(plugin->choice);
	free(plugin);
}

int32_t rcore_plugin_settle(struct rcore_plugin *plugin, struct rcore_error *err)
{
	rcore_error_free(plugin->error);
	if (plugin->is_interrupted) {
		rcore_error_free(err);
		err = rcore_error_create(RCORE_ERROR_FAULT, "interrupted");
	}
	plugin->error = err;
	if (!err)
		return STATUS_COMPLETE;
	return err->code == RCORE_ERROR_NOT_RUBY ? STATUS_NOT_RUBY
	       : err->code == RCORE_ERROR_USAGE  ? STATUS_USAGE
						 : STATUS_FAILED;
}

int32_t rcore_plugin_finish(struct rcore_plugin *plugin, struct rcore_error *err)
{
	int32_t status = rcore_plugin_settle(plugin, err);
	return status == STATUS_COMPLETE && plugin->is_partial ? STATUS_PARTIAL : status;
}

/*
 * Adds facts from the core file that the debugger does not report (for a core
 * that qemu wrote, GDB knows no signal).
 */
static void fill_in(struct rcore_process *process, const struct rcore_process *core)
{
	process->segments = core->segments;
	process->segment_count = core->segment_count;
	process->producer = core->producer;
	process->note = core->note;
	process->signo = core->signo;
	process->siginfo = core->siginfo;
	process->crashed_tid = core->crashed_tid;
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
	rcore_process_settle_signal(process, plugin->process.is_debugged ||
						     rcore_same_text(process->producer, "gdb"));
	if (plugin->lost_bytes)
		process->note = rcore_core_cut_off(&plugin->arena, plugin->lost_bytes,
						   plugin->saved_bytes);
	if (plugin->shown)
		fill_in(process, rcore_core_process(plugin->shown));
	return rcore_segments_ready(&plugin->segments) ? NULL : rcore_error_no_memory();
}

static struct rcore_error *open_session(struct rcore_plugin *plugin, struct rcore_session **ret)
{
	return plugin->core
		       ? rcore_open_core(plugin->core, &plugin->options, ret)
		       : rcore_session_open(&plugin->process, rcore_cache_memory(plugin->cache),
					    &plugin->options, ret);
}

struct rcore_error *rcore_plugin_view(struct rcore_plugin *plugin, bool no_native,
				      struct rcore_view **ret)
{
	/*
	 * Keeps what one view has read for the next one: 2,000 fibers and half
	 * a million objects are 50 MiB.
	 */
	static const struct rcore_cache_options cache = {.max_bytes = 128 << 20};
	struct rcore_view *view = &plugin->views[no_native];
	struct rcore_error *err = NULL;
	*ret = view;
	view->color = plugin->color;
	view->is_partial = false;
	if (view->session)
		return NULL;
	plugin->options.size = sizeof(plugin->options);
	plugin->options.no_native = no_native;
	plugin->options.ids = plugin->ids;
	plugin->options.choice = plugin->choice;
	if (!plugin->cache) {
		err = gather(plugin);
		if (!err)
			err = rcore_cache_open(&plugin->memory, &cache, &plugin->cache);
	}
	return err ? err : open_session(plugin, &view->session);
}

static bool same_special(const struct rcore_options *a, const struct rcore_options *b)
{
	const struct rcore_locals_options *x = &a->values, *y = &b->values;
	return a->no_native == b->no_native && a->redact == b->redact && x->self == y->self &&
	       x->arguments == y->arguments && x->locals == y->locals &&
	       !memcmp(&x->inspect, &y->inspect, sizeof(x->inspect));
}

struct rcore_error *rcore_plugin_view_special(struct rcore_plugin *plugin,
					      const struct rcore_options *wanted,
					      struct rcore_view **ret)
{
	struct rcore_view *view = &plugin->views[SPECIAL], *plain;
	if (view->session && !same_special(&plugin->special, wanted))
		drop_view(view);
	struct rcore_error *err = rcore_plugin_view(plugin, wanted->no_native, &plain);
	if (!err && !view->session) {
		struct rcore_options before = plugin->options;
		plugin->options.no_native = wanted->no_native;
		plugin->options.values = wanted->values;
		plugin->options.redact = wanted->redact;
		plugin->special = *wanted;
		err = open_session(plugin, &view->session);
		plugin->options = before;
	}
	view->color = plugin->color;
	view->is_partial = false;
	*ret = view;
	return err;
}

struct rcore_error *rcore_plugin_load(struct rcore_plugin *plugin, bool no_native,
				      const struct rcore_snapshot **ret)
{
	struct rcore_view *view;
	struct rcore_error *err = rcore_plugin_view(plugin, no_native, &view);
	if (!err)
		err = rcore_view_need(view, ret);
	plugin->is_partial = !err && view->is_partial;
	return err;
}

void rcore_plugin_text_free(char *text)
{
	free(text);
}

const char *rcore_plugin_error(const struct rcore_plugin *plugin)
{
	return plugin->error ? plugin->error->message : NULL;
}
