/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_RECORDER_H
#define RCORE_TARGET_RECORDER_H

/*
 * target/pack/ records what an analysis reads, and writes it as a small core.
 * It includes target/core/ and elfutils. Start here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/memory.h"

/*
 * A memory that records every byte that was read, or that could not be read. An
 * analysis needs only these to get the same result again.
 */
struct rcore_recorder;

/* `below` must outlive it. Returns NULL if memory is short. */
struct rcore_recorder *rcore_recorder_new(struct rcore_memory *below);
void rcore_recorder_free(struct rcore_recorder *recorder); /* NULL-safe */

/*
 * Returns the first address after `address` at which memory that can be read
 * may begin or end; without such a function, this may be any address.
 */
typedef uint64_t rcore_recorder_edge(const void *context, uint64_t address);
void rcore_recorder_set_edge(struct rcore_recorder *recorder, rcore_recorder_edge *edge,
			     const void *context);

/* Belongs to the recorder. */
struct rcore_memory *rcore_recorder_memory(struct rcore_recorder *recorder);

/* Marks a range as if it had been read. */
void rcore_recorder_add(struct rcore_recorder *recorder, uint64_t start, uint64_t size);

/* What is read or added during a pause is not marked. Pauses nest. */
void rcore_recorder_pause(struct rcore_recorder *recorder, bool pause);

/* Whether something is not marked or added because memory was short. */
bool rcore_recorder_is_short(const struct rcore_recorder *recorder);

enum { RCORE_RECORDER_PAGE = 1024 };

/* What the recorder knows about a byte. */
enum rcore_recorded {
	RCORE_RECORDED_ASKED, /* somebody read it, or tried to */
	/* contents of a String that the program created */
	RCORE_RECORDED_TEXT,
	/* a name or path of code, even if the bytes are also something else */
	RCORE_RECORDED_NAME,
	RCORE_RECORDED_WORD,   /* a name that rcore itself looks for */
	RCORE_RECORDED_HIDDEN, /* the pack has filler in its place */
	RCORE_RECORDED_KINDS,
};

/* A page of which bytes were read; bit n of bits[kind][n / 64] is byte n. */
struct rcore_recorded_page {
	const struct rcore_recorder *recorder;
	uint64_t start;
	uint64_t bits[RCORE_RECORDED_KINDS][RCORE_RECORDER_PAGE / 64];
};

/* Adds this kind to a range, even during a pause. */
void rcore_recorder_mark(struct rcore_recorder *recorder, enum rcore_recorded kind,
			 uint64_t start, uint64_t size);

/* Forgets a range, as if it had not been read. */
void rcore_recorder_forget(struct rcore_recorder *recorder, uint64_t start, uint64_t end);

static inline bool rcore_recorded_is(const struct rcore_recorded_page *page,
				     enum rcore_recorded kind, size_t at)
{
	return page->bits[kind][at / 64] >> at % 64 & 1;
}

/* Sorts the pages and returns them; they belong to the recorder. */
const struct rcore_recorded_page *const *rcore_recorder_pages(struct rcore_recorder *recorder,
							      size_t *ret_count);

enum { RCORE_RECORDER_BLOCK = 4096 };

/* A range of which a pack has all bytes, whether or not somebody read them. */
struct rcore_recorded_range {
	uint64_t start, end; /* multiples of RCORE_RECORDER_BLOCK */
	bool is_zero;        /* all bytes are zero: nobody reads them */
};

/*
 * Adds such a range. Call it in the order of addresses; ranges do not overlap.
 * A range takes no memory for each of its pages: from now on, the recorder
 * marks none of its bytes. Unless is_zero, all bytes must be readable until the
 * pack has been written.
 */
void rcore_recorder_add_range(struct rcore_recorder *recorder,
			      const struct rcore_recorded_range *range);

/* Returns the ranges; they belong to the recorder. */
const struct rcore_recorded_range *rcore_recorder_ranges(const struct rcore_recorder *recorder,
							 size_t *ret_count);

/* Calls `visit` for each page, in any order. */
void rcore_recorder_each(const struct rcore_recorder *recorder,
			 void (*visit)(void *context, const struct rcore_recorded_page *page),
			 void *context);

/*
 * Finds the next run of bytes that were read, from *at on, and moves *at past
 * it. Returns false if there is none.
 */
bool rcore_recorded_run(const struct rcore_recorded_page *page, size_t *at, size_t *ret_start,
			size_t *ret_size);

/*
 * Does the same for the next bytes that were read and still can be, from *at
 * on, and reads them into the beginning of `bytes`. If a run can no longer be
 * read as a whole, finds its readable parts.
 */
bool rcore_recorded_read(const struct rcore_recorded_page *page, struct rcore_memory *memory,
			 size_t *at, size_t *ret_start, size_t *ret_size,
			 uint8_t bytes[RCORE_RECORDER_PAGE]);

#endif
