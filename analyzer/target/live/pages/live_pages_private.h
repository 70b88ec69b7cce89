/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_PAGES_PRIVATE_H
#define RCORE_TARGET_LIVE_PAGES_PRIVATE_H

#include "target/live/pages/live_pages.h"

/* Returns the index of the first sorted page that ends after `address`. */
size_t rcore_live_pages_first_after(const struct rcore_live_pages *pages, uint64_t address);

/*
 * Allocates pages->rooms, and writes to them once. If memory is short, they
 * stay NULL.
 */
void rcore_live_pages_add_rooms(struct rcore_live_pages *pages);
void rcore_live_pages_drop_rooms(struct rcore_live_pages *pages);

/* Notes that fill() must read a page. */
void rcore_live_pages_note_wanted(struct rcore_live_pages *pages, size_t item);

/* Returns a hash (XXH3) of a page. */
uint64_t rcore_live_page_digest(const uint8_t *bytes);

#endif
