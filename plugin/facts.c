/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "target/machine.h"

static int32_t unknown_name(struct rcore_plugin *plugin, const char *what, const char *name)
{
	char escaped[64];
	return rcore_plugin_settle(
		plugin, rcore_error_create(RCORE_ERROR_USAGE, "unknown %s \"%s\"", what,
					   rcore_escape(escaped, sizeof(escaped), name)));
}

static int32_t set_machine(struct rcore_plugin *plugin, const char *name)
{
	plugin->process.machine = rcore_machine_number(name);
	if (!plugin->process.machine)
		return unknown_name(plugin, "machine", name);
	return rcore_plugin_settle(plugin, NULL);
}

static int32_t add_search_path(struct rcore_plugin *plugin, const char *path)
{
	const char **item = rcore_push(&plugin->search_paths);
	if (!item)
		return rcore_plugin_settle(plugin, rcore_error_no_memory());
	*item = path;
	return rcore_plugin_settle(plugin, NULL);
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
		{"layout", &options->layout_file},  {"core", &plugin->core},
	};
	if (strcmp(name, "machine") == 0)
		return set_machine(plugin, value);
	char *copy = rcore_arena_strdup(&plugin->arena, value);
	if (!copy)
		return rcore_plugin_settle(plugin, rcore_error_no_memory());
	if (strcmp(name, "lib-search-path") == 0)
		return add_search_path(plugin, copy);
	for (size_t i = 0; i < RCORE_COUNT(fields); i++) {
		if (strcmp(fields[i].name, name) == 0) {
			*fields[i].field = copy;
			return rcore_plugin_settle(plugin, NULL);
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
	else if (strcmp(name, "color") == 0)
		plugin->color = value != 0;
	else if (strcmp(name, "live") == 0)
		plugin->process.is_debugged = value != 0;
	else
		return unknown_name(plugin, "number", name);
	return rcore_plugin_settle(plugin, NULL);
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
	return rcore_plugin_settle(plugin, NULL);
}

int32_t rcore_plugin_add_thread(struct rcore_plugin *plugin, int32_t tid,
				const uint64_t *registers, uint32_t register_count,
				uint64_t thread_pointer)
{
	if (register_count > RCORE_MAX_REGISTERS)
		return rcore_plugin_settle(
			plugin, rcore_error_create(RCORE_ERROR_USAGE,
						   "%u registers are more than a thread has",
						   register_count));
	struct rcore_native_thread *thread = rcore_push(&plugin->threads);
	if (!thread)
		return rcore_plugin_settle(plugin, rcore_error_no_memory());
	thread->tid = tid;
	thread->thread_pointer = thread_pointer;
	if (registers && register_count) {
		thread->has_registers = true;
		thread->register_count = (int)register_count;
		memcpy(thread->registers, registers, register_count * sizeof(*registers));
	}
	return rcore_plugin_settle(plugin, NULL);
}

int32_t rcore_plugin_add_mapping(struct rcore_plugin *plugin, uint64_t start, uint64_t end,
				 uint64_t file_offset, const char *path)
{
	if (start >= end)
		return rcore_plugin_settle(
			plugin, rcore_error_create(RCORE_ERROR_USAGE,
						   "a mapping ends before it starts"));
	char *copy = rcore_arena_strdup(&plugin->arena, path);
	struct rcore_mapping *mapping = copy ? rcore_push(&plugin->mappings) : NULL;
	if (!mapping)
		return rcore_plugin_settle(plugin, rcore_error_no_memory());
	*mapping = (struct rcore_mapping){
		.start = start, .end = end, .file_offset = file_offset, .path = copy};
	return rcore_plugin_settle(plugin, NULL);
}

int32_t rcore_plugin_add_segment(struct rcore_plugin *plugin, uint64_t start, uint64_t end,
				 uint32_t held)
{
	static const enum rcore_fault faults[] = {
		[RCORE_PLUGIN_NOT_SAVED] = RCORE_FAULT_NOT_SAVED,
		[RCORE_PLUGIN_SAVED] = RCORE_FAULT_NONE,
		[RCORE_PLUGIN_CUT_OFF] = RCORE_FAULT_TRUNCATED,
	};
	if (held >= RCORE_COUNT(faults))
		return rcore_plugin_settle(
			plugin, rcore_error_create(RCORE_ERROR_USAGE,
						   "unknown kind of segment: %u", held));
	if (start >= end)
		return rcore_plugin_settle(
			plugin, rcore_error_create(RCORE_ERROR_USAGE,
						   "a segment ends before it starts"));
	if (!rcore_segments_add(&plugin->segments, start, end - start, NULL, faults[held]))
		return rcore_plugin_settle(plugin, rcore_error_no_memory());
	return rcore_plugin_settle(plugin, NULL);
}

int32_t rcore_plugin_add_core(struct rcore_plugin *plugin, const char *path)
{
	struct rcore_core *core;
	struct rcore_error *err = rcore_core_open(path, &core);
	if (!err) {
		rcore_core_close(plugin->shown);
		plugin->shown = core;
	}
	return rcore_plugin_settle(plugin, err);
}

int32_t rcore_plugin_add_auxv(struct rcore_plugin *plugin, uint64_t type, uint64_t value)
{
	uint64_t(*pair)[2] = rcore_push(&plugin->auxv);
	if (!pair)
		return rcore_plugin_settle(plugin, rcore_error_no_memory());
	(*pair)[0] = type;
	(*pair)[1] = value;
	return rcore_plugin_settle(plugin, NULL);
}
