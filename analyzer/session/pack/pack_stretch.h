/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_STRETCH_H
#define RCORE_SESSION_PACK_STRETCH_H

#include "base/error.h"
#include "target/memory.h"
#include "target/pack/recorder.h"

/* Consecutive bytes of the target that were recorded, across pages. */
struct rcore_stretch {
	uint64_t start;
	char *items;
	size_t count, capacity;
	const struct rcore_recorded_page *const *pages; /* the first of them */
};

bool rcore_stretch_is_marked(const struct rcore_stretch *stretch, size_t at,
			     enum rcore_recorded kind);

/*
 * Reads everything that was recorded from `memory`, and calls `visit` for each
 * stretch until it returns false. Records nothing. Error: NO_MEMORY.
 */
struct rcore_error *
rcore_stretches(struct rcore_recorder *recorder, struct rcore_memory *memory,
		bool (*visit)(void *context, const struct rcore_stretch *stretch),
		void *context);

#endif
