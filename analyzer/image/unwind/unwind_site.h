/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_SITE_H
#define RCORE_IMAGE_UNWIND_SITE_H

#include "base/address_map.h"
#include "image/symbolize/symbolize.h"
#include "image/unwind/cold_part.h"
#include "image/unwind/unwind_row.h"

/*
 * What is known about one code address. It is found once, because thousands of
 * parked fibers are in the same few places.
 */
struct rcore_site {
	struct rcore_native_module *module; /* NULL: no module maps it */
	bool covered;                       /* it has call frame information */
	/*
	 * What that information says. A signal handler returns to this code, a
	 * trampoline of the C library.
	 */
	bool is_signal;
	/* Nothing called this code. */
	bool is_outermost;
	/*
	 * The canonical frame address (CFA) is base_offset plus the value of
	 * this register; -1 if it is something else.
	 */
	int base_register;
	uint64_t base_offset;
	/* The return address is saved at an offset from the CFA. */
	bool saves_link;
	/* The caller's frame pointer is saved at CFA + fp_offset. */
	bool saves_fp;
	uint64_t fp_offset;
	struct rcore_row row; /* the rules for all registers */
	uint64_t address, fde_start;
	struct rcore_native_frame *frames; /* NULL: not looked up yet */
	size_t frame_count;
	/* That of the sites when part_of of the last frame was looked up. */
	unsigned generation;
};

struct rcore_sites {
	struct rcore_native_modules *native;
	/* The functions whose moved parts to find (cold_part.h). */
	struct rcore_functions functions;
	unsigned generation; /* changes whenever `functions` does */
	struct rcore_symbolizer symbolizer;
	struct rcore_arena arena;
	struct rcore_address_map at;
	struct {
		struct rcore_site **items;
		size_t count, capacity;
	} list;
	bool no_memory; /* memory was short for a site */
};

/*
 * To initialize it, zero the struct and set `native`. Names are in the arena.
 */
void rcore_sites_deinit(struct rcore_sites *sites);

/*
 * Sets the functions whose parts to find from now on: a copy of `functions` (or
 * NULL), and `one` unless it is 0. Returns false if memory is short.
 */
bool rcore_sites_set_functions(struct rcore_sites *sites,
			       const struct rcore_functions *functions, uint64_t one);

/*
 * Returns the site of an address; for a return address, pass the byte before
 * it. Returns NULL if memory is short.
 */
struct rcore_site *rcore_site_at(struct rcore_sites *sites, uint64_t address);

#endif
