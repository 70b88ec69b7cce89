/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_MEMORY_H
#define RCORE_IMAGE_UNWIND_MEMORY_H

#include "target/memory.h"

/*
 * Keeps a few pages, because the unwinder reads stacks word by word, many
 * times. For a live process or a debugger, each page is one request instead of
 * hundreds.
 */
enum { RCORE_KEPT_PAGE = 4096, RCORE_KEPT_PAGES = 16 };

struct rcore_kept_pages {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	struct rcore_memory *below;
	struct {
		bool filled;
		uint64_t start;
		uint8_t bytes[RCORE_KEPT_PAGE];
	} pages[RCORE_KEPT_PAGES];
};

void rcore_kept_pages_init(struct rcore_kept_pages *kept, struct rcore_memory *below);

#endif
