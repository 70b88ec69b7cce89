/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_PAGES_H
#define RCORE_TARGET_LIVE_PAGES_H

#include "base/address_map.h"
#include "target/live/live_copy.h"
#include "target/live/live_memory.h"
#include "target/live/pages/live_halves.h"

/*
 * target/live/pages/ reads many parts of a running process with few system
 * calls, and keeps pages of it. It includes base/, target/ and target/live/
 * only. Start here.
 *
 * The pages of a running process that an analysis needs, each read once. The
 * process should be stopped as briefly as possible, so the pages are found
 * while it still runs:
 *
 *	clear     nothing is known
 *	(reads)   of the running process: whatever they touch is kept
 *	rewind    the bytes go, the list stays; memory for them is made ready
 *	          -- the process is stopped --
 *	fill      all on the list that do not rest, in a few system calls
 *	(reads)   what is not on the list yet is read as it is met
 *	          -- the process runs again --
 *	freeze    only what was kept can be read, and what does not change: code
 *	          and constants of files
 *
 * Unlike target/cache.h, it never drops a page to make room for another one:
 * beyond the limit, pages are read and not kept.
 */
enum {
	RCORE_LIVE_PAGES_LIMIT = 128 << 10, /* 512 MiB */
	/*
	 * Longer reads are not kept: a walk over a whole heap uses what it
	 * reads at once.
	 */
	RCORE_LIVE_SCAN_SIZE = RCORE_READ_PIECE,
	RCORE_LIVE_PAGES_RECENT = 256,
	/* Bytes that each of `rooms` has at least. */
	RCORE_LIVE_PAGES_ROOM = 256 << 10,
	/* The most bytes of a stack that may rest. */
	RCORE_LIVE_STACK_LIMIT = 256 << 20,
};

enum rcore_live_page_state {
	RCORE_LIVE_PAGE_WANTED,
	RCORE_LIVE_PAGE_READ,
	/* In a batch; a single read may try again. */
	RCORE_LIVE_PAGE_FAILED,
};

struct rcore_live_page {
	uint64_t address;
	uint8_t *bytes;
	enum rcore_live_page_state state;
	bool is_late; /* read when the process was no longer held */
	bool rests;   /* fill() does not read it after again() */
	/* Of rcore_live_pages_compare(). */
	bool is_same, is_constant;
	bool has_digest; /* `bytes` have this digest */
	uint64_t digest;
};

struct rcore_live_pages {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	struct rcore_live_memory *below;
	/* Reads return this copy if it has all bytes; NULL: there is none. */
	const struct rcore_live_copy *copy;
	bool is_frozen;

	struct rcore_live_page *items;
	size_t count, capacity;
	/* Addresses of the first of `items`, which are sorted by them. */
	uint64_t *sorted;
	size_t sorted_count;
	/*
	 * How many bytes rest(), next_resting(), wake() and digest() may still
	 * process. It starts as a multiple of all bytes on the list; only
	 * ranges that overlap use it up.
	 */
	uint64_t work_left;
	uint64_t unlike; /* the last value that digest() invented */
	/*
	 * Indices of the pages that the next fill() reads. The list may also
	 * have pages that it need not read, or have a page twice. If
	 * `are_all_wanted`, it is not whole, and fill() looks at all pages.
	 */
	struct rcore_live_page_list {
		uint32_t *items;
		size_t count, capacity;
	} wanted;
	bool are_all_wanted;
	/*
	 * Indices of the pages that neither rested nor were constant at
	 * note_awake(), when there were `noted_count` pages. With thousands of
	 * fibers, most pages rest. The first `awake_sorted` of them
	 * are in `sorted`.
	 */
	struct rcore_live_page_list awake;
	size_t awake_sorted, noted_count;
	/*
	 * How many of the `awake` pages before each one have changed, and as
	 * the last element how many of all; NULL: not counted.
	 */
	uint32_t *changes;
	/* Of pages that are not in `sorted`. */
	struct rcore_address_map index;
	struct {
		uint64_t address;
		size_t item; /* plus one */
	} recent[RCORE_LIVE_PAGES_RECENT];

	uint8_t **blocks; /* the memory into which `bytes` point */
	size_t block_count, block_capacity;
	size_t room; /* pages left in the last block */

	/*
	 * Buffers, one for each thread of fill(), for pages that it compares;
	 * NULL: it reads them into their place. Other code may use them
	 * between calls of fill().
	 */
	uint8_t *rooms[RCORE_LIVE_HALVES];
};

void rcore_live_pages_init(struct rcore_live_pages *pages, struct rcore_live_memory *below);
/* also frees everything */
void rcore_live_pages_clear(struct rcore_live_pages *pages);

/*
 * Adds the pages of [start, end) to the list. Returns false if memory is short,
 * or the limit is reached.
 */
bool rcore_live_pages_want(struct rcore_live_pages *pages, uint64_t start, uint64_t end);

/* Returns false if memory is short. */
bool rcore_live_pages_rewind(struct rcore_live_pages *pages);

/*
 * Lets the next fill() read all pages again, into the same memory, except those
 * that rest or were constant at compare(). No page may have been added since
 * rewind().
 */
void rcore_live_pages_again(struct rcore_live_pages *pages);

/*
 * Lets pages that lie in [start, end) rest, if they were on the list at the
 * last rewind() and have been read since: they keep their bytes at the next
 * again(). Returns how many. A hostile target may claim many times that all of
 * its memory is a stack. So ranges above RCORE_LIVE_STACK_LIMIT never rest, and
 * nothing rests after `work_left` is used up.
 */
size_t rcore_live_pages_rest(struct rcore_live_pages *pages, uint64_t start, uint64_t end);

/*
 * Finds the first run of adjacent pages of [*from, end) that rest, sets *ret to
 * the first of them, and *from to their end. Their copies are adjacent, too.
 * Returns their number; 0: there are none, or `work_left` is used up, which
 * then is 0.
 */
size_t rcore_live_pages_next_resting(struct rcore_live_pages *pages, uint64_t *from,
				     uint64_t end, struct rcore_live_page **ret);

/*
 * Makes the next fill() read the pages of [start, end) that rested; all pages
 * that rested if `work_left` is used up. Returns how many.
 */
size_t rcore_live_pages_wake(struct rcore_live_pages *pages, uint64_t start, uint64_t end);

/*
 * Notes the bytes that all pages have now, to compare them with those that
 * fill() reads after again(). Until then, all pages that have been read count
 * as the same. Also allocates what fill() needs for that.
 */
void rcore_live_pages_compare(struct rcore_live_pages *pages);

/*
 * Returns whether the pages of [start, end) have the same bytes as at
 * rcore_live_pages_compare(), or rest. Looks only at pages that were on the
 * list at the last rewind(). Returns false after `work_left` is used up.
 */
bool rcore_live_pages_are_same(struct rcore_live_pages *pages, uint64_t start, uint64_t end);

/*
 * Lists the pages that do not rest, so that again() and fill() need not look
 * for them while the process is stopped. Call it between compare() and again(),
 * after rest(). If memory is short, they look at all pages.
 */
void rcore_live_pages_note_awake(struct rcore_live_pages *pages);

/*
 * Does the same as rcore_live_pages_are_same() for many ranges in less time.
 * rcore_live_pages_span() returns the pages of [start, end) that were awake at
 * note_awake(); call it before again(). rcore_live_pages_count_changes() counts
 * the pages that fill() found changed, and returns false if note_awake() had no
 * memory for that. Then rcore_live_pages_is_span_same() returns whether none of
 * a span has changed.
 */
struct rcore_live_span rcore_live_pages_span(const struct rcore_live_pages *pages,
					     uint64_t start, uint64_t end);
bool rcore_live_pages_count_changes(struct rcore_live_pages *pages);
bool rcore_live_pages_is_span_same(const struct rcore_live_pages *pages,
				   struct rcore_live_span span);

/*
 * Returns a hash (XXH3) of the bytes of [start, end). Counts only pages that
 * were on the list at the last rewind() and have been read since. Returns a new
 * value each time after `work_left` is used up.
 */
uint64_t rcore_live_pages_digest(struct rcore_live_pages *pages, uint64_t start, uint64_t end);

/*
 * Pages that cannot be read are skipped; code that reads them gets their fault.
 */
void rcore_live_pages_fill(struct rcore_live_pages *pages);

/* Whether a page of [start, end) was read after the process was resumed. */
bool rcore_live_pages_are_late(struct rcore_live_pages *pages, uint64_t start, uint64_t end);

void rcore_live_pages_freeze(struct rcore_live_pages *pages);

#endif
