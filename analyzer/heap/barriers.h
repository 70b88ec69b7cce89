/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_BARRIERS_H
#define RCORE_HEAP_BARRIERS_H

#include "model/heap/heap.h"

/* What the collector notes of a slot besides rcore_heap.state. */
enum rcore_heap_note {
	/* A minor collection visits it, although it is old. */
	RCORE_NOTE_REMEMBERED = 1 << 0,
	/* A minor collection does not free it. */
	RCORE_NOTE_UNCOLLECTIBLE = 1 << 1,
};

/*
 * Returns the next edge from `*edge` on at which a write barrier is missing:
 * from an old object to a young one, of which the collector was told of
 * neither, so a minor collection frees the young one. Sets *edge to it and *ret
 * to its node. Returns false after the last one. This is check_generation_i()
 * of gc.c; it does not hold while the collector marks. `notes` are by node.
 */
bool rcore_heap_missing_barrier(const struct rcore_heap *heap, const uint8_t *notes,
				uint32_t *edge, uint32_t *ret);

#endif
