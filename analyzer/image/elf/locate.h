/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_LOCATE_H
#define RCORE_IMAGE_LOCATE_H

#include "base/arena.h"
#include "image/elf/modules.h"

/*
 * The files of this machine that may be a module's: names only, best first. The
 * caller opens them and compares build-ids.
 */
struct rcore_candidate {
	const char *path;
	/*
	 * False: only a build-id can show that this is the target's file. (If
	 * there is a sysroot, the same path outside of it belongs to another
	 * machine.)
	 */
	bool by_name;
};

enum { RCORE_MAX_CANDIDATES = 64 };

/*
 * Returns the path that a target's file had before it was deleted, in `arena`,
 * or `path` itself. Returns NULL if memory is short.
 */
const char *rcore_path_without_deleted(struct rcore_arena *arena, const char *path);

/*
 * Fills `ret`, which has room for RCORE_MAX_CANDIDATES; the strings are in
 * `arena`. Returns their number, which is smaller if memory is short.
 */
size_t rcore_locate(struct rcore_arena *arena, const struct rcore_module_options *options,
		    const char *path, const unsigned char *build_id, size_t build_id_size,
		    struct rcore_candidate *ret);

#endif
