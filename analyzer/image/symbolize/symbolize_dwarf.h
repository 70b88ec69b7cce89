/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_DWARF_H
#define RCORE_IMAGE_SYMBOLIZE_DWARF_H

#include <elfutils/libdwfl.h>

/*
 * What the DWARF of a module says about its code. The strings belong to libdw.
 */
struct rcore_units;

/* Returns NULL if there is no DWARF, or memory is short. */
struct rcore_units *rcore_units_new(Dwfl_Module *module);
void rcore_units_free(struct rcore_units *units); /* NULL-safe */

/*
 * A function at an address: the one that contains the code, or one inlined
 * there.
 */
struct rcore_source {
	const char *function; /* NULL: unknown */
	const char *file;     /* NULL: unknown */
	int line;
};

enum { RCORE_MAX_INLINED = 64 };

/*
 * Finds the functions at a run-time address, innermost first; the last one
 * contains the code. Returns their number, which is 0 if DWARF does not know
 * the address.
 */
size_t rcore_units_find(struct rcore_units *units, uint64_t address,
			struct rcore_source ret[RCORE_MAX_INLINED + 1]);

#endif
