/* SPDX-License-Identifier: MIT */
#include "session/layout/identify.h"

#include <inttypes.h>
#include <stdio.h>

static const char *hex(struct rcore_arena *arena, const unsigned char *bytes, size_t size)
{
	if (!size)
		return NULL;
	char *text = rcore_arena_alloc(arena, size * 2 + 1);
	for (size_t i = 0; text && i < size; i++)
		sprintf(text + i * 2, "%02x", bytes[i]);
	return text;
}

static const char *const status_names[] = {
	[RCORE_MODULE_FOUND] = "found",
	[RCORE_MODULE_UNVERIFIED] = "unverified",
	[RCORE_MODULE_WRONG] = "wrong build",
	[RCORE_MODULE_MISSING] = "missing",
};

static const char *lost(struct rcore_arena *arena, const struct rcore_module *module,
			bool is_ruby)
{
	if (module->whole_size)
		return rcore_arena_printf(arena,
					  "%s is truncated (%" PRIu64 " of %" PRIu64
					  " bytes): the constants, names and call frame "
					  "information in the rest of it",
					  module->file, module->file_size, module->whole_size);
	if (module->status == RCORE_MODULE_FOUND || module->status == RCORE_MODULE_UNVERIFIED)
		return NULL;
	return is_ruby ? "the symbols of Ruby's version and of the VM's pointer, the names in "
			 "its read-only data, and its call frame information"
		       : "the constants, names and call frame information that only its file "
			 "contains";
}

static const char *fix(struct rcore_arena *arena, const struct rcore_module *module,
		       const char *build_id)
{
	if (module->whole_size)
		return rcore_arena_printf(arena, "copy all of %s again to %s", module->path,
					  module->file);
	switch (module->status) {
	case RCORE_MODULE_MISSING:
		return rcore_arena_printf(arena,
					  "copy %s from the machine that wrote the core, and "
					  "pass --sysroot DIR or "
					  "--lib-search-path DIR%s%s",
					  module->path,
					  build_id ? "; or debuginfod-find executable " : "",
					  build_id ? build_id : "");
	case RCORE_MODULE_WRONG:
		return rcore_arena_printf(
			arena,
			"%s is another build: copy the one with build-id %s from the machine "
			"that wrote the core, and pass --sysroot DIR or --lib-search-path DIR",
			module->file, build_id ? build_id : "of the core");
	default:
		return NULL;
	}
}

struct rcore_error *rcore_session_describe_modules(const struct rcore_target *target,
						   const struct rcore_module *ruby,
						   struct rcore_snapshot *snapshot)
{
	struct rcore_arena *arena = &snapshot->arena;
	size_t count = rcore_modules_count(target->modules);
	snapshot->modules = rcore_arena_array(arena, count, sizeof(*snapshot->modules));
	if (!snapshot->modules)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct rcore_module *module = rcore_modules_get(target->modules, i);
		struct rcore_module_info *info = &snapshot->modules[i];
		info->path = rcore_arena_strdup(arena, module->path);
		info->file = rcore_arena_copy(arena, module->file);
		info->start = module->start;
		info->end = module->end;
		info->build_id = hex(arena, module->build_id, module->build_id_size);
		info->file_build_id =
			hex(arena, module->file_build_id, module->file_build_id_size);
		info->status = status_names[module->status];
		info->is_ruby = module == ruby;
		if (target->pack && module->status != RCORE_MODULE_FOUND) {
			info->status = "packed";
		} else {
			info->lost = lost(arena, module, info->is_ruby);
			info->fix = fix(arena, module, info->build_id);
		}
		if (!info->path)
			return rcore_error_no_memory();
	}
	snapshot->module_count = count;
	return NULL;
}
