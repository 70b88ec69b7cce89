/* SPDX-License-Identifier: MIT */
#include "rcore_plugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/text.h"
#include "rcore.h"
#include "target/cache.h"
#include "target/core.h"
#include "target/machine.h"
#include "target/segments.h"

enum { STATUS_COMPLETE, STATUS_PARTIAL, STATUS_FAILED, STATUS_NOT_RUBY, STATUS_USAGE = 64 };

/* What process and options have is put there only when a report is asked for. */
struct rcore_plugin {
	struct rcore_memory memory;
	rcore_plugin_read read;
	void *context;
	struct rcore_arena arena; /* the strings of the facts */
	struct rcore_process process;
	struct rcore_options options;
	bool is_live;
	struct {
		struct rcore_native_thread *items;
		size_t count, capacity;
	} threads;
	struct {
		struct rcore_mapping *items;
		size_t count, capacity;
	} mappings;
	struct rcore_segments
		segments; /* pieces that `read` gives, and pieces that cannot be read */
	uint64_t lost_bytes, saved_bytes;
	struct {
		uint64_t (*items)[2];
		size_t count, capacity;
	} auxv;
	struct {
		const char **items;
		size_t count, capacity;
	} search_paths;
	struct rcore_error *error;
};

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

/* Takes ownership of `err`; gives the status of the command. */
static int32_t settle(struct rcore_plugin *plugin, struct rcore_error *err)
{
	rcore_error_free(plugin->error);
	plugin->error = err;
	if (!err)
		return STATUS_COMPLETE;
	return err->code == RCORE_ERROR_NOT_RUBY ? STATUS_NOT_RUBY
	       : err->code == RCORE_ERROR_USAGE  ? STATUS_USAGE
						 : STATUS_FAILED;
}

static int32_t unknown_name(struct rcore_plugin *plugin, const char *what, const char *name)
{
	char escaped[64];
	return settle(plugin,
		      rcore_error_create(RCORE_ERROR_USAGE, "no %s is called \"%s\"", what,
					 rcore_escape(escaped, sizeof(escaped), name)));
}

static int32_t set_machine(struct rcore_plugin *plugin, const char *name)
{
	plugin->process.machine = rcore_machine_number(name);
	if (!plugin->process.machine)
		return unknown_name(plugin, "machine that rcore reads", name);
	return settle(plugin, NULL);
}

static int32_t add_search_path(struct rcore_plugin *plugin, const char *path)
{
	const char **item = rcore_push(&plugin->search_paths);
	if (!item)
		return settle(plugin, rcore_error_no_memory());
	*item = path;
	return settle(plugin, NULL);
}

int32_t rcore_plugin_set_text(struct rcore_plugin *plugin, const char *name, const char *value)
{
	struct rcore_process *process = &plugin->process;
	struct rcore_options *options = &plugin->options;
	const struct {
		const char *name, **field;
	} fields[] = {
		{"source", &process->source},       {"producer", &process->producer},
		{"arguments", &process->arguments}, {"executable", &process->executable},
		{"program", &options->executable},  {"sysroot", &options->sysroot},
		{"layout", &options->layout_file},
	};
	if (strcmp(name, "machine") == 0)
		return set_machine(plugin, value);
	char *copy = rcore_arena_strdup(&plugin->arena, value);
	if (!copy)
		return settle(plugin, rcore_error_no_memory());
	if (strcmp(name, "lib-search-path") == 0)
		return add_search_path(plugin, copy);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(fields[i].name, name) == 0) {
			*fields[i].field = copy;
			return settle(plugin, NULL);
		}
	}
	return unknown_name(plugin, "text", name);
}

int32_t rcore_plugin_set_number(struct rcore_plugin *plugin, const char *name, int64_t value)
{
	if (strcmp(name, "pid") == 0)
		plugin->process.pid = (int)value;
	else if (strcmp(name, "signal") == 0)
		plugin->process.signo = (int)value;
	else if (strcmp(name, "thread") == 0)
		plugin->process.crashed_tid = (int)value;
	else if (strcmp(name, "saved-bytes") == 0)
		plugin->saved_bytes = (uint64_t)value;
	else if (strcmp(name, "lost-bytes") == 0)
		plugin->lost_bytes = (uint64_t)value;
	else if (strcmp(name, "live") == 0)
		plugin->is_live = value != 0;
	else
		return unknown_name(plugin, "number", name);
	return settle(plugin, NULL);
}

int32_t rcore_plugin_set_siginfo(struct rcore_plugin *plugin, int32_t signo, int32_t code,
				 uint64_t address, int32_t sender_pid)
{
	plugin->process.siginfo = (struct rcore_siginfo){
		.present = true,
		.signo = signo,
		.code = code,
		.address = address,
		.sender_pid = sender_pid,
	};
	return settle(plugin, NULL);
}

int32_t rcore_plugin_add_thread(struct rcore_plugin *plugin, int32_t tid,
				const uint64_t *registers, uint32_t register_count,
				uint64_t thread_pointer)
{
	if (register_count > RCORE_MAX_REGISTERS)
		return settle(plugin,
			      rcore_error_create(RCORE_ERROR_USAGE,
						 "%u registers are more than a thread has",
						 register_count));
	struct rcore_native_thread *thread = rcore_push(&plugin->threads);
	if (!thread)
		return settle(plugin, rcore_error_no_memory());
	thread->tid = tid;
	thread->thread_pointer = thread_pointer;
	if (registers && register_count) {
		thread->has_registers = true;
		thread->register_count = (int)register_count;
		memcpy(thread->registers, registers, register_count * sizeof(*registers));
	}
	return settle(plugin, NULL);
}

int32_t rcore_plugin_add_mapping(struct rcore_plugin *plugin, uint64_t start, uint64_t end,
				 uint64_t file_offset, const char *path)
{
	if (start >= end)
		return settle(plugin,
			      rcore_error_create(RCORE_ERROR_USAGE,
						 "a mapping that ends before it starts"));
	char *copy = rcore_arena_strdup(&plugin->arena, path);
	struct rcore_mapping *mapping = copy ? rcore_push(&plugin->mappings) : NULL;
	if (!mapping)
		return settle(plugin, rcore_error_no_memory());
	*mapping = (struct rcore_mapping){
		.start = start, .end = end, .file_offset = file_offset, .path = copy};
	return settle(plugin, NULL);
}

int32_t rcore_plugin_add_segment(struct rcore_plugin *plugin, uint64_t start, uint64_t end,
				 uint32_t held)
{
	static const enum rcore_fault faults[] = {
		[RCORE_PLUGIN_NOT_SAVED] = RCORE_FAULT_NOT_SAVED,
		[RCORE_PLUGIN_SAVED] = RCORE_FAULT_NONE,
		[RCORE_PLUGIN_CUT_OFF] = RCORE_FAULT_TRUNCATED,
	};
	if (held >= sizeof(faults) / sizeof(faults[0]))
		return settle(plugin, rcore_error_create(RCORE_ERROR_USAGE,
							 "a segment is not held so: %u", held));
	if (start >= end)
		return settle(plugin,
			      rcore_error_create(RCORE_ERROR_USAGE,
						 "a segment that ends before it starts"));
	if (!rcore_segments_add(&plugin->segments, start, end - start, NULL, faults[held]))
		return settle(plugin, rcore_error_no_memory());
	return settle(plugin, NULL);
}

int32_t rcore_plugin_add_auxv(struct rcore_plugin *plugin, uint64_t type, uint64_t value)
{
	uint64_t(*pair)[2] = rcore_push(&plugin->auxv);
	if (!pair)
		return settle(plugin, rcore_error_no_memory());
	(*pair)[0] = type;
	(*pair)[1] = value;
	return settle(plugin, NULL);
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
	int32_t status = settle(plugin, err ? err : failure);
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
