/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_RECORDER_H
#define RCORE_TARGET_RECORDER_H

/*
 * target/pack/ notes what an analysis read, and writes it as a small core.
 * Start here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/memory.h"

/*
 * Memory that keeps note of every byte that was asked of it, whether it could
 * be read or not: what an analysis needs to come to the same result again.
 */
struct rcore_recorder;

/* `below` must outlive it. NULL: memory is short. */
struct rcore_recorder *rcore_recorder_new(struct rcore_memory *below);
void rcore_recorder_free(struct rcore_recorder *recorder); /* NULL-safe */

/* Belongs to the recorder. */
struct rcore_memory *rcore_recorder_memory(struct rcore_recorder *recorder);

/* Marks a range as asked for. */
void rcore_recorder_add(struct rcore_recorder *recorder, uint64_t start, uint64_t size);

/* What is read or added meanwhile is not marked; counts, so that it nests. */
void rcore_recorder_pause(struct rcore_recorder *recorder, bool pause);

/* Some of it is not marked, for memory was short. */
bool rcore_recorder_is_short(const struct rcore_recorder *recorder);

enum { RCORE_RECORDER_PAGE = 1024 };

/* What is known of a byte. */
enum rcore_recorded {
	RCORE_RECORDED_ASKED,
	RCORE_RECORDED_TEXT,   /* contents of a String that the program made */
	RCORE_RECORDED_NAME,   /* a name or path of code, whatever else it is */
	RCORE_RECORDED_WORD,   /* a name that rcore itself looks for */
	RCORE_RECORDED_HIDDEN, /* a pack has rcore_fill() there */
	RCORE_RECORDED_KINDS,
};

/*
 * A page of which bytes were asked for; bit n of bits[kind][n / 64] is byte n.
 */
struct rcore_recorded_page {
	uint64_t start;
	uint64_t bits[RCORE_RECORDED_KINDS][RCORE_RECORDER_PAGE / 64];
};

/* Says more of a range, pauses or not. */
void rcore_recorder_mark(struct rcore_recorder *recorder, enum rcore_recorded kind,
			 uint64_t start, uint64_t size);

/* As if nobody had asked for a range. */
void rcore_recorder_forget(struct rcore_recorder *recorder, uint64_t start, uint64_t end);

static inline bool rcore_recorded_is(const struct rcore_recorded_page *page,
				     enum rcore_recorded kind, size_t at)
{
	return page->bits[kind][at / 64] >> at % 64 & 1;
}

/* Puts the pages in order, and gives them; they belong to the recorder. */
const struct rcore_recorded_page *const *rcore_recorder_pages(struct rcore_recorder *recorder,
							      size_t *ret_count);

/*
 * The next run of bytes that were asked for, from *at on; moves *at behind it.
 * False: no more.
 */
bool rcore_recorded_run(const struct rcore_recorded_page *page, size_t *at, size_t *ret_start,
			size_t *ret_size);

#endif
