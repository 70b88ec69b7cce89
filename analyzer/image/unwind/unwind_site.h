/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_SITE_H
#define RCORE_IMAGE_UNWIND_SITE_H

#include "base/address_map.h"
#include "image/symbolize/symbolize.h"
#include "image/unwind/cold_part.h"

/*
 * What is known of one code address, found once: parked fibers stand in the
 * same few places by the thousand.
 */
struct rcore_site {
	struct rcore_native_module *module; /* NULL: none maps it */
	bool covered;                       /* by call frame information */
	/* ... of the trampoline that a signal returns to. */
	bool is_signal;
	/* ... which says that nothing called it. */
	bool is_outermost;
	/*
	 * The canonical frame address is this register's value and the offset;
	 * -1: other.
	 */
	int base_register;
	uint64_t base_offset;
	/* Its return address lies at an offset from that address. */
	bool saves_link;
	/*
	 * The frame pointer of its caller is saved at that address and this
	 * offset.
	 */
	bool saves_fp;
	uint64_t fp_offset;
	uint64_t address, fde_start;
	struct rcore_native_frame *frames; /* NULL: not asked for yet */
	size_t frame_count;
	unsigned generation; /* of the functions that it may be a part of */
};

struct rcore_sites {
	struct rcore_native_modules *native;
	struct rcore_functions functions; /* whose parts are looked for */
	unsigned generation;              /* of `functions` */
	struct rcore_symbolizer symbolizer;
	struct rcore_arena arena;
	struct rcore_address_map at;
	struct {
		struct rcore_site **items;
		size_t count, capacity;
	} list;
};

/* An all-zero struct with `native` set is ready. Names are in the arena. */
void rcore_sites_deinit(struct rcore_sites *sites);

/*
 * Whose parts are looked for from now on: a copy of `functions` (NULL: none),
 * and `one` more unless that is 0. false: memory is short.
 */
bool rcore_sites_set_functions(struct rcore_sites *sites,
			       const struct rcore_functions *functions, uint64_t one);

/*
 * The site of an address: of a return address give the byte before. NULL:
 * memory is short.
 */
struct rcore_site *rcore_site_at(struct rcore_sites *sites, uint64_t address);

#endif
