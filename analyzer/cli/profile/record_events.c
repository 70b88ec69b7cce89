/* SPDX-License-Identifier: MIT */
#include "cli/profile/record_events.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "base/text.h"
#include "profile/format.h"
#include "sampler/system_calls.h"
#include "target/live/live_files.h"

/* Adds the numbers of system calls: "read,write". */
static struct rcore_error *add_calls(const char *names, struct rcore_arena *arena,
				     struct rcore_bpf_options *ret)
{
	char name[64], escaped[128];
	for (const char *at = names;; at++) {
		size_t length = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		int number = rcore_system_call_number(name);
		if (number < 0 || number >= RCORE_BPF_CALLS)
			return rcore_error_create(RCORE_ERROR_USAGE,
						  "option '--event': no system call '%s'",
						  rcore_escape(escaped, sizeof(escaped), name));
		ret->calls[number / 8] |= (uint8_t)(1 << number % 8);
		if (rcore_system_call_returns_twice(number))
			ret->starters[number / 8] |= (uint8_t)(1 << number % 8);
		at += length;
		if (!*at)
			return NULL;
	}
}

/* Adds functions: "FILE:malloc,free". */
static struct rcore_error *add_functions(const char *text, struct rcore_arena *arena,
					 struct rcore_bpf_options *ret)
{
	const char *colon = strrchr(text, ':');
	if (!colon || colon == text || !colon[1])
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--event': after '" RCORE_EVENT_FUNCTIONS
			"', FILE:FUNCTION is wanted, such as libc.so.6:malloc");
	const char *file = rcore_arena_strndup(arena, text, (size_t)(colon - text));
	for (const char *at = colon + 1;; at++) {
		size_t length = strcspn(at, ",");
		const char *name = rcore_arena_strndup(arena, at, length);
		if (!file || !name)
			return rcore_error_no_memory();
		if (ret->function_count == RCORE_BPF_FUNCTIONS)
			return rcore_error_create(RCORE_ERROR_USAGE,
						  "option '--event': at most %d functions",
						  RCORE_BPF_FUNCTIONS);
		ret->functions[ret->function_count++] =
			(struct rcore_bpf_function){.file = file, .name = name};
		at += length;
		if (!*at)
			return NULL;
	}
}

static const struct {
	const char *prefix;
	struct rcore_error *(*add)(const char *names, struct rcore_arena *arena,
				   struct rcore_bpf_options *ret);
	enum rcore_bpf_event event;
} kinds[] = {
	{RCORE_EVENT_CALLS, add_calls, RCORE_BPF_EVENT_CALLS},
	{RCORE_EVENT_FUNCTIONS, add_functions, RCORE_BPF_EVENT_FUNCTIONS},
};

struct rcore_error *rcore_record_events(const struct rcore_record_arguments *asked,
					struct rcore_arena *arena,
					struct rcore_bpf_options *ret)
{
	char escaped[128];
	ret->event = asked->off_cpu ? RCORE_BPF_EVENT_OFF_CPU : RCORE_BPF_EVENT_CPU;
	for (size_t i = 0; i < asked->events.count; i++) {
		const char *event = asked->events.items[i];
		size_t kind = 0;
		while (kind < RCORE_COUNT(kinds) &&
		       strncmp(event, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0)
			kind++;
		if (kind == RCORE_COUNT(kinds))
			return rcore_error_create(
				RCORE_ERROR_USAGE,
				"option '--event' does not accept '%s': " RCORE_EVENT_CALLS
				"NAME, with the name of a system call, "
				"or " RCORE_EVENT_FUNCTIONS "FILE:FUNCTION",
				rcore_escape(escaped, sizeof(escaped), event));
		if (i && kinds[kind].event != ret->event)
			return rcore_error_create(
				RCORE_ERROR_USAGE,
				"option '--event': record either system calls "
				"or functions");
		ret->event = kinds[kind].event;
		struct rcore_error *err =
			kinds[kind].add(event + strlen(kinds[kind].prefix), arena, ret);
		if (err)
			return err;
	}
	return NULL;
}

/* A path as the process sees it; or the last part of one. */
static bool is_named(const struct rcore_mapping *mapping, const char *file)
{
	const char *path = strchr(file, '/') ? mapping->path : rcore_base_name(mapping->path);
	return mapping->file && !strcmp(path, file);
}

void rcore_record_find_files(int pid, struct rcore_arena *arena,
			     struct rcore_bpf_options *options)
{
	int task;
	struct rcore_live_maps maps;
	int folder = rcore_live_folder_open(pid, &task);
	if (folder < 0)
		return;
	if (!rcore_live_maps_read(folder, task, arena, &maps))
		for (size_t i = 0; i < options->function_count; i++) {
			struct rcore_bpf_function *function = &options->functions[i];
			size_t found = 0;
			while (found < maps.mapping_count &&
			       !is_named(&maps.mappings[found], function->file))
				found++;
			if (found < maps.mapping_count)
				function->file = maps.mappings[found].file;
		}
	close(folder);
}
