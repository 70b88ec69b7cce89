/* SPDX-License-Identifier: MIT */
#include "session/layout/identify.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Tries files called libruby first, so that others are not opened. */
static struct rcore_module *find_by_symbol(const struct rcore_target *target)
{
	struct rcore_symbol symbol;
	size_t count = rcore_modules_count(target->modules);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			struct rcore_module *module = rcore_modules_get(target->modules, i);
			bool likely = strncmp(rcore_base_name(module->path), "libruby", 7) == 0;
			if (likely == (pass == 0) &&
			    rcore_module_symbol(target->modules, module, "ruby_version",
						&symbol) &&
			    rcore_module_symbol(target->modules, module, "ruby_api_version",
						&symbol))
				return module;
		}
	}
	return NULL;
}

/*
 * Even if a file is missing, its name shows the version: libruby.so.3.4.9,
 * libruby-3.1.so.3.1.2.
 */
static bool version_of_name(const char *path, unsigned version[3])
{
	const char *name = rcore_base_name(path);
	const char *so = strstr(name, ".so.");
	return strncmp(name, "libruby", 7) == 0 && so &&
	       sscanf(so, ".so.%u.%u.%u", &version[0], &version[1], &version[2]) == 3;
}

static struct rcore_module *find_by_name(const struct rcore_target *target, unsigned version[3])
{
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		struct rcore_module *module = rcore_modules_get(target->modules, i);
		if (version_of_name(module->path, version))
			return module;
	}
	return NULL;
}

static void read_text(const struct rcore_target *target, struct rcore_module *module,
		      const char *name, char *ret, size_t size)
{
	struct rcore_symbol symbol;
	if (!rcore_module_symbol(target->modules, module, name, &symbol) ||
	    rcore_read_string(target->memory, symbol.address, ret, size))
		ret[0] = 0;
}

static bool parse(const char *text, unsigned version[3])
{
	return sscanf(text, "%u.%u.%u", &version[0], &version[1], &version[2]) == 3;
}

struct rcore_error *rcore_session_identify(const struct rcore_target *target,
					   struct rcore_identity *ret)
{
	unsigned by_name[3];
	struct rcore_module *module = find_by_symbol(target);
	*ret = (struct rcore_identity){0};
	if (!module)
		module = find_by_name(target, by_name);
	if (!module)
		return rcore_session_not_ruby(target);

	read_text(target, module, "ruby_version", ret->version_text, sizeof(ret->version_text));
	read_text(target, module, "ruby_description", ret->description,
		  sizeof(ret->description));
	ret->source = "ruby_version in memory";
	if (!parse(ret->version_text, ret->version)) {
		if (!version_of_name(module->path, ret->version))
			return rcore_error_create(RCORE_ERROR_NO_LAYOUT,
						  "the Ruby in %s has an unknown version: its "
						  "file is missing here or is another build; "
						  "pass --sysroot DIR or --lib-search-path DIR",
						  module->path);
		snprintf(ret->version_text, sizeof(ret->version_text), "%u.%u.%u",
			 ret->version[0], ret->version[1], ret->version[2]);
		ret->description[0] = 0;
		ret->source = "the file name of libruby";
	}
	ret->module = module;
	return NULL;
}

struct rcore_error *rcore_session_describe_identity(const struct rcore_identity *identity,
						    struct rcore_snapshot *snapshot)
{
	const char *version = identity->version_text, *description = identity->description;
	struct rcore_arena *arena = &snapshot->arena;
	snapshot->ruby_version = version[0] ? rcore_arena_strdup(arena, version) : NULL;
	snapshot->ruby_description =
		description[0] ? rcore_arena_strdup(arena, description) : NULL;
	snapshot->version_source = identity->source;
	return (version[0] && !snapshot->ruby_version) ||
			       (description[0] && !snapshot->ruby_description)
		       ? rcore_error_no_memory()
		       : NULL;
}
