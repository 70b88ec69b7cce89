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
 * Returns a name of a command in debuggers, such as "fibers" for ruby-fibers.
 * The first is its verb, the second its name in the shell if that differs.
 * NULL: it has no such name.
 */
enum { RCORE_PLUGIN_VERBS = 2 };
const char *rcore_plugin_verb(const struct rcore_command *command, int index);

/*
 * Shared by the files of plugin/, not public. Facts are copied to process and
 * options only when a command needs them.
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
	 * A core that the library reads itself; NULL: `read` returns memory,
	 * and everything else is a fact.
	 */
	const char *core;
	struct {
		struct rcore_native_thread *items;
		size_t count, capacity;
	} threads;
	struct {
		struct rcore_mapping *items;
		size_t count, capacity;
	} mappings;
	/* Ranges for which `read` is asked, and ranges that cannot be read. */
	struct rcore_segments segments;
	uint64_t lost_bytes, saved_bytes;
	/* The core that the debugger reads; NULL if it was not named. */
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
	/* With native stacks; without; and with values, or redacted. */
	struct rcore_view views[3];
	struct rcore_options special; /* the options of the third view */
	bool color;
	bool is_interrupted;
	bool is_partial; /* the last result is incomplete */
};

/*
 * Takes ownership of `err` (may be NULL) as the plugin's last error. Returns
 * the exit status of the command.
 */
int32_t rcore_plugin_settle(struct rcore_plugin *plugin, struct rcore_error *err);

/* Does the same, but returns 1 if the last result is incomplete. */
int32_t rcore_plugin_finish(struct rcore_plugin *plugin, struct rcore_error *err);

/*
 * Lets the next view be read again if memory was short for the last one. There
 * may be more memory now.
 */
void rcore_plugin_retry(struct rcore_plugin *plugin);

/*
 * Returns the target that the facts describe, and opens it if needed.
 * `no_native` as in rcore_options.
 */
struct rcore_error *rcore_plugin_view(struct rcore_plugin *plugin, bool no_native,
				      struct rcore_view **ret);

/*
 * Does the same for a command that wants values or redacted text: values are
 * decoded with everything else, and redacted in the same pass. The last such
 * view is kept.
 */
struct rcore_error *rcore_plugin_view_special(struct rcore_plugin *plugin,
					      const struct rcore_options *wanted,
					      struct rcore_view **ret);

/*
 * Loads the view of rcore_plugin_view(). `ret` belongs to the view. Also fails
 * if nothing of Ruby could be decoded.
 */
struct rcore_error *rcore_plugin_load(struct rcore_plugin *plugin, bool no_native,
				      const struct rcore_snapshot **ret);

#endif
