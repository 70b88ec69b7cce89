/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "session/session.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Modules that are likely to be the one go first, so that the others are not opened. */
static struct rcore_module *find_by_symbol(struct rcore_session *session)
{
	struct rcore_symbol symbol;
	size_t count = rcore_modules_count(session->modules);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			struct rcore_module *module = rcore_modules_get(session->modules, i);
			bool likely = strncmp(base_name(module->path), "libruby", 7) == 0;
			if (likely == (pass == 0) &&
			    rcore_module_symbol(session->modules, module, "ruby_version",
						&symbol) &&
			    rcore_module_symbol(session->modules, module, "ruby_api_version",
						&symbol))
				return module;
		}
	}
	return NULL;
}

/* libruby.so.3.4.9, libruby-3.1.so.3.1.2: the file's name says it where the file is gone. */
static bool version_of_name(const char *path, unsigned version[3])
{
	const char *name = base_name(path);
	const char *so = strstr(name, ".so.");
	return strncmp(name, "libruby", 7) == 0 && so &&
	       sscanf(so, ".so.%u.%u.%u", &version[0], &version[1], &version[2]) == 3;
}

static struct rcore_module *find_by_name(struct rcore_session *session, unsigned version[3])
{
	for (size_t i = 0; i < rcore_modules_count(session->modules); i++) {
		struct rcore_module *module = rcore_modules_get(session->modules, i);
		if (version_of_name(module->path, version))
			return module;
	}
	return NULL;
}

static const char *read_text(struct rcore_session *session, struct rcore_module *module,
			     const char *name, struct rcore_arena *arena)
{
	char text[256];
	struct rcore_symbol symbol;
	if (!rcore_module_symbol(session->modules, module, name, &symbol) ||
	    rcore_read_string(session->memory, symbol.address, text, sizeof(text)))
		return NULL;
	return rcore_arena_strdup(arena, text);
}

static bool parse(const char *text, unsigned version[3])
{
	return text && sscanf(text, "%u.%u.%u", &version[0], &version[1], &version[2]) == 3;
}

struct rcore_error *rcore_session_identify(struct rcore_session *session,
					   struct rcore_snapshot *snapshot,
					   struct rcore_identity *ret)
{
	unsigned by_name[3];
	struct rcore_identity found = {.module = find_by_symbol(session)};
	if (!found.module)
		found.module = find_by_name(session, by_name);
	if (!found.module)
		return rcore_session_not_ruby(session);

	snapshot->ruby_version =
		read_text(session, found.module, "ruby_version", &snapshot->arena);
	snapshot->ruby_description =
		read_text(session, found.module, "ruby_description", &snapshot->arena);
	snapshot->version_source = "ruby_version in memory";
	if (!parse(snapshot->ruby_version, found.version)) {
		if (!version_of_name(found.module->path, found.version))
			return rcore_error_create(
				RCORE_ERROR_NO_LAYOUT,
				"the Ruby in %s does not tell its version: the file is missing "
				"here or is another build; give --sysroot DIR or "
				"--lib-search-path DIR",
				found.module->path);
		snapshot->ruby_version =
			rcore_arena_printf(&snapshot->arena, "%u.%u.%u", found.version[0],
					   found.version[1], found.version[2]);
		snapshot->ruby_description = NULL;
		snapshot->version_source = "the file name of libruby";
	}
	*ret = found;
	return NULL;
}
