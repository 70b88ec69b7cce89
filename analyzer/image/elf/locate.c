/* SPDX-License-Identifier: MIT */
#include "image/elf/locate.h"

#include <string.h>

#include "base/text.h"
#include "image/elf/build_id.h"

struct list {
	struct rcore_candidate *items;
	size_t count;
};

static void add(struct list *list, const char *path, bool by_name)
{
	if (path && list->count < RCORE_MAX_CANDIDATES)
		list->items[list->count++] = (struct rcore_candidate){path, by_name};
}

const char *rcore_path_without_deleted(struct rcore_arena *arena, const char *path)
{
	static const char suffix[] = " (deleted)";
	if (!rcore_ends_with(path, suffix))
		return path;
	return rcore_arena_strndup(arena, path, strlen(path) - strlen(suffix));
}

/* ".build-id/ab/cdef...", where distributions install files by build-id */
static const char *build_id_path(struct rcore_arena *arena, const unsigned char *build_id,
				 size_t size)
{
	char hex[RCORE_BUILD_ID_TEXT];
	if (size < 2)
		return NULL;
	rcore_build_id_text(build_id, size, hex);
	return rcore_arena_printf(arena, ".build-id/%.2s/%s", hex, hex + 2);
}

/*
 * Joins two paths with one slash. A folder that the user gave may end with
 * slashes; a path of the target may begin with one.
 */
static char *below(struct rcore_arena *arena, const char *root, const char *path)
{
	size_t length = strlen(root);
	while (length && root[length - 1] == '/')
		length--;
	return rcore_arena_printf(arena, "%.*s/%s", (int)length, root,
				  path + strspn(path, "/"));
}

size_t rcore_locate(struct rcore_arena *arena, const struct rcore_module_options *options,
		    const char *path, const unsigned char *build_id, size_t build_id_size,
		    struct rcore_candidate *ret)
{
	struct list list = {ret, 0};
	path = rcore_path_without_deleted(arena, path);
	if (!path)
		return 0;
	const char *name = rcore_base_name(path);
	const char *by_id = build_id_path(arena, build_id, build_id_size);
	const char *debug = by_id ? rcore_arena_printf(arena, "%s.debug", by_id) : NULL;

	if (options->sysroot)
		add(&list, below(arena, options->sysroot, path), true);
	for (size_t i = 0; i < options->search_path_count; i++) {
		const char *folder = options->search_paths[i];
		add(&list, below(arena, folder, name), true);
		if (!by_id || !debug)
			continue;
		add(&list, below(arena, folder, by_id), false);
		add(&list, below(arena, folder, debug), false);
	}
	/*
	 * A relative path is relative to a folder of the target, which is not
	 * known.
	 */
	if (name != path)
		add(&list, path, *path == '/' && !options->sysroot);
	if (by_id)
		add(&list, rcore_arena_printf(arena, "/usr/lib/debug/%s", by_id), false);
	return list.count;
}
