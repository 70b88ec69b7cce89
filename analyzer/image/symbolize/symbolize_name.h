/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_NAME_H
#define RCORE_IMAGE_SYMBOLIZE_NAME_H

#include "image/symbolize/symbolize_dwarf.h"
#include "image/unwind/unwind_modules.h"

/* What symbols and DWARF say about an address. NULL, 0: unknown. */
struct rcore_function_name {
	const char *name;   /* demangled */
	const char *symbol; /* the mangled name, if `name` differs */
	const char *file;
	int line;
};

struct rcore_address_name {
	/* As in struct rcore_native_frame, for functions[count - 1]. */
	uint64_t function_start, function_offset;
	size_t count; /* at least 1; innermost first */
	struct rcore_function_name functions[RCORE_MAX_INLINED + 1];
};

/*
 * Asks the helper for the names at a run-time address. The vdso does not come
 * from a file, so its names are found in this process. The strings are valid
 * until the helper is called again. Returns false if the helper cannot read the
 * module.
 */
bool rcore_name_address(struct rcore_native_module *module, uint64_t address,
			uint64_t fde_start, struct rcore_address_name *ret);

#endif
