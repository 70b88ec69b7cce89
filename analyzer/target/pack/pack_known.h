/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PACK_KNOWN_H
#define RCORE_TARGET_PACK_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which bytes of a pack are the target's. A pack has whole pages, of which an
 * analysis asked for some bytes; the others are filled with zeroes for the sake
 * of gdb, and a later rcore, which may ask for more, must not take these for
 * facts.
 *
 * A note of the pack says it: how many bytes are filling and how many are
 * known, in turn from the first page on, each as an unsigned LEB128.
 */
enum { RCORE_PACK_KNOWN_NOTE = 0x72636f71 };

struct rcore_known_run {
	uint64_t start, end; /* bytes from the first page on */
};

struct rcore_known_runs {              /* an all-zero one is empty */
	struct rcore_known_run *items; /* in order, with filling between */
	size_t count, capacity;
};

struct rcore_known_writer { /* an all-zero one is empty */
	uint8_t *items;     /* the note's contents */
	size_t count, capacity;
	uint64_t end; /* of the last run */
};

/* `size` bytes from `start` on are known; in order. False: memory is short. */
bool rcore_known_add(struct rcore_known_writer *writer, uint64_t start, uint64_t size);

void rcore_known_writer_deinit(struct rcore_known_writer *writer);

/*
 * Reads such a note of pages that have `limit` bytes. False: memory is short.
 * What makes no sense ends it.
 */
bool rcore_known_read(const uint8_t *note, size_t size, uint64_t limit,
		      struct rcore_known_runs *ret);
void rcore_known_deinit(struct rcore_known_runs *runs);

/* Index of the first run that ends behind `offset`. */
size_t rcore_known_find(const struct rcore_known_runs *runs, uint64_t offset);

#endif
