/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_LAYOUTS_H
#define RCORE_SESSION_LAYOUTS_H

#include "layout/layout.h"
#include "session/layout/identify.h"

/* Layouts to try, best first. The caller frees `items`. */
struct rcore_layouts {
	struct rcore_layout *items;
	size_t count;
};

/*
 * Lists them: the table in `file` alone if it is not NULL, or the pack's alone;
 * otherwise the target's own DWARF, the tables of this release, then those of
 * its neighbours. Errors: as rcore_layout_read(), NO_LAYOUT.
 */
struct rcore_error *rcore_session_layouts(const struct rcore_target *target,
					  const struct rcore_identity *identity,
					  const char *file, struct rcore_layouts *ret);

#endif
