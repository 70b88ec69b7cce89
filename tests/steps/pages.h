/* SPDX-License-Identifier: MIT */
#ifndef STEPS_PAGES_H
#define STEPS_PAGES_H

#include "target/live/live_memory.h"
#include "states.h"

struct page;

/*
 * The tracee's pages at one step. An analysis reads some 300 pages, nearly the
 * same at each step, so pages that were in use are read again in one system
 * call; those that the tracee cannot write to are kept. Which pages are not
 * mapped is remembered, too: a proof follows many values that are not
 * pointers, each of which would be a system call or two.
 */
struct pages {
	struct rcore_memory memory; /* first: the callee casts back */
	struct rcore_live_memory *below;
	struct page *known, *last;
	struct rcore_live_range *ranges; /* what is read again */
	size_t capacity;
	struct states unmapped;
};

void pages_init(struct pages *pages, struct rcore_live_memory *below);
void pages_deinit(struct pages *pages);

/* The tracee has moved. `remapped`: what is mapped may have changed, too. */
void pages_renew(struct pages *pages, bool remapped);

#endif
