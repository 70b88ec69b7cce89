/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_COLD_PART_H
#define RCORE_IMAGE_COLD_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GCC moves rarely executed code of a function far away, with call frame
 * information of its own. To an unwinder, its frame belongs to another
 * function. Its symbol, "NAME.cold", is gone if the file is stripped. Then only
 * the jumps from the function to that code connect the two. Jumps are searched
 * only in the functions that the caller asks for.
 */
struct rcore_functions {
	const uint64_t *starts; /* sorted */
	size_t count;
};

struct rcore_sites;
struct rcore_site;

/*
 * Returns which of `functions` the code at `site` is a part of: the only one
 * that jumps there. A jump to the first byte of code that can be called may be
 * a tail call, so it counts only if it is conditional. Returns 0 if there is
 * none.
 */
uint64_t rcore_cold_part_of(struct rcore_sites *sites, const struct rcore_functions *functions,
			    const struct rcore_site *site);

/*
 * Returns whether a function may begin at this address: according to the call
 * frame information, the stack has only what a call pushes.
 */
bool rcore_can_be_called(struct rcore_sites *sites, uint64_t address);

#endif
