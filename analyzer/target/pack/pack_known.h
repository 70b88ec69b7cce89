/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PACK_KNOWN_H
#define RCORE_TARGET_PACK_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Lists the bytes of a pack that come from the target. A pack has whole pages,
 * of which an analysis read only some bytes. The others are zeroes, because gdb
 * expects whole pages. A later rcore, which may read more, must not mistake
 * these for data.
 *
 * The note is a list of unsigned LEB128 numbers. From the first page on, they
 * say in turn how many bytes are filling and how many are known.
 */
enum { RCORE_PACK_KNOWN_NOTE = 0x72636f71 };

struct rcore_known_run {
	uint64_t start, end; /* bytes from the first page on */
};

struct rcore_known_runs {              /* all zeroes is empty */
	struct rcore_known_run *items; /* in order, with filling in between */
	size_t count, capacity;
};

struct rcore_known_writer { /* all zeroes is empty */
	uint8_t *items;     /* the note's contents */
	size_t count, capacity;
	uint64_t end; /* of the last run */
};

/*
 * Adds `size` known bytes from `start` on; call it in order. Returns false if
 * memory is short.
 */
bool rcore_known_add(struct rcore_known_writer *writer, uint64_t start, uint64_t size);

void rcore_known_writer_deinit(struct rcore_known_writer *writer);

/*
 * Reads such a note for pages that have `limit` bytes together. Of a run that
 * ends after that, takes the beginning, and stops. Returns false if memory is
 * short.
 */
bool rcore_known_read(const uint8_t *note, size_t size, uint64_t limit,
		      struct rcore_known_runs *ret);
void rcore_known_deinit(struct rcore_known_runs *runs);

/* Returns the index of the first run that ends after `offset`. */
size_t rcore_known_find(const struct rcore_known_runs *runs, uint64_t offset);

#endif
