/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_DWARF_H
#define RCORE_IMAGE_SYMBOLIZE_DWARF_H

#include <elfutils/libdwfl.h>

/* What a module's DWARF says of its code. Strings belong to libdw. */
struct rcore_units;

/* NULL: no DWARF, or memory is short. */
struct rcore_units *rcore_units_new(Dwfl_Module *module);
void rcore_units_free(struct rcore_units *units); /* NULL-safe */

/*
 * One function at an address: the one that has the code, or one inlined there.
 */
struct rcore_source {
	const char *function; /* NULL: unknown */
	const char *file;     /* NULL: unknown */
	int line;
};

enum { RCORE_MAX_INLINED = 64 };

/*
 * The functions at a run-time address, innermost first; the last is that which
 * has the code. Gives their number, 0 where DWARF does not know the address.
 */
size_t rcore_units_find(struct rcore_units *units, uint64_t address,
			struct rcore_source ret[RCORE_MAX_INLINED + 1]);

#endif
