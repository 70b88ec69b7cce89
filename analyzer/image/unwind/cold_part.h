/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_COLD_PART_H
#define RCORE_IMAGE_COLD_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GCC moves what a function does rarely out of it, far away, with call frame
 * information of its own: who unwinds sees a frame of another function. Its
 * symbol, "NAME.cold", is gone where the file is stripped; what is left of the
 * tie are the jumps from the function to there. Only the few functions are
 * searched for them that are asked for.
 */
struct rcore_functions {
	const uint64_t *starts; /* sorted */
	size_t count;
};

struct rcore_sites;
struct rcore_site;

/*
 * Which of `functions` the code at `site` is a part of: the only one that jumps
 * there. A jump to the first byte of what can be called may be a tail call, and
 * does not count unless it is a conditional one. 0: none.
 */
uint64_t rcore_cold_part_of(struct rcore_sites *sites, const struct rcore_functions *functions,
			    const struct rcore_site *site);

/*
 * May a function begin at this address: is nothing on the stack yet but what a
 * call puts there?
 */
bool rcore_can_be_called(struct rcore_sites *sites, uint64_t address);

#endif
