/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PLUGIN_BRIDGE_H
#define RCORE_PLUGIN_BRIDGE_H

#include "rcore_plugin.h"

#include "base/arena.h"
#include "command/command.h"
#include "session/session.h"
#include "target/core/core.h"
#include "target/cache.h"
#include "target/segments.h"

/*
 * Shared by the files of plugin/, not public. What process and options have is
 * put there only when a question is asked.
 */
struct rcore_plugin {
	struct rcore_memory memory;
	rcore_plugin_read read;
	void *context;
	struct rcore_ids *ids;
	struct rcore_choice *choice;
	struct rcore_arena arena; /* the strings of the facts */
	struct rcore_process process;
	struct rcore_options options;
	/*
	 * Read by ourselves; NULL: `read` gives memory, and the rest are facts.
	 */
	const char *core;
	bool is_live;
	struct {
		struct rcore_native_thread *items;
		size_t count, capacity;
	} threads;
	struct {
		struct rcore_mapping *items;
		size_t count, capacity;
	} mappings;
	/* Pieces that `read` gives, and pieces that cannot be read. */
	struct rcore_segments segments;
	uint64_t lost_bytes, saved_bytes;
	/* The core that the debugger reads for us; NULL: not told. */
	struct rcore_core *shown;
	struct {
		uint64_t (*items)[2];
		size_t count, capacity;
	} auxv;
	struct {
		const char **items;
		size_t count, capacity;
	} search_paths;
	struct rcore_error *error;
	/* What was read since the last stop. */
	struct rcore_cache *cache;
	/* With native stacks, without, and with values or redacted. */
	struct rcore_view views[3];
	struct rcore_options special; /* what the third was opened with */
	bool color;
	bool is_interrupted;
	bool is_partial; /* the last answer lacks something */
};

/*
 * Takes ownership of `err` as the plugin's last error (NULL: none); gives the
 * status that the command would exit with.
 */
int32_t rcore_plugin_settle(struct rcore_plugin *plugin, struct rcore_error *err);

/* The same; 1 where the last answer lacks something. */
int32_t rcore_plugin_finish(struct rcore_plugin *plugin, struct rcore_error *err);

/*
 * The target of the facts told, opened unless it is; `no_native` as in
 * rcore_options.
 */
struct rcore_error *rcore_plugin_view(struct rcore_plugin *plugin, bool no_native,
				      struct rcore_view **ret);

/*
 * The same, loaded. `ret` belongs to the view. An error also where nothing of
 * Ruby could be decoded.
 */
struct rcore_error *rcore_plugin_load(struct rcore_plugin *plugin, bool no_native,
				      const struct rcore_snapshot **ret);

#endif
