/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_LOCATE_H
#define RCORE_IMAGE_LOCATE_H

#include "base/arena.h"
#include "image/elf/modules.h"

/*
 * Where on this machine the file of a module may be: names alone, best first;
 * the caller opens them and compares build-ids.
 */
struct rcore_candidate {
	const char *path;
	/*
	 * False: only a build-id can say that this is the target's file (with a
	 * sysroot, the same path outside of it is another machine's).
	 */
	bool by_name;
};

enum { RCORE_MAX_CANDIDATES = 64 };

/*
 * The path of a target's file as it was before the file was deleted; of
 * `arena`, or `path` itself. NULL: memory is short.
 */
const char *rcore_path_without_deleted(struct rcore_arena *arena, const char *path);

/*
 * Fills `ret` (room for RCORE_MAX_CANDIDATES); the strings are of `arena`.
 * Gives their number; where memory is short, fewer.
 */
size_t rcore_locate(struct rcore_arena *arena, const struct rcore_module_options *options,
		    const char *path, const unsigned char *build_id, size_t build_id_size,
		    struct rcore_candidate *ret);

#endif
