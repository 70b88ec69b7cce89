/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_MODULES_H
#define RCORE_IMAGE_UNWIND_MODULES_H

#include <elfutils/libdwfl.h>

#include "base/address_map.h"
#include "image/elf/module_private.h"
#include "image/symbolize/symbolize_symbols.h"
#include "image/unwind/unwind_machine.h"

/*
 * The target's modules as libdwfl sees them, at their run-time addresses: those
 * of `modules`, and the vdso. libdwfl opens no file itself: it gets the
 * module's file, or, if that is missing, its headers.
 */
struct rcore_native_module {
	struct rcore_native_modules *all;
	struct rcore_module_entry *entry;
	Dwfl_Module *dwfl;

	/* .eh_frame_hdr: pairs of addresses relative to it, sorted; or NULL. */
	bool looked_for_table;
	const int32_t (*table)[2];
	size_t table_size;
	uint64_t table_address;

	/*
	 * From functions that the caller asked for (cold_part.h); `from` is the
	 * function.
	 */
	struct rcore_address_map searched; /* functions whose jumps are known */
	struct {
		struct rcore_jump *items;
		size_t count, capacity;
	} jumps;

	bool named; /* whether the next three are set */
	const char *name, *gem;
	bool is_interpreter;
	/* In the helper, or of the vdso. */
	bool has_symbols;   /* whether they were looked for */
	bool lacked_memory; /* when they were looked for */
	struct rcore_symbols *symbols;
	struct rcore_units *units;
};

struct rcore_native_modules {
	struct rcore_modules *modules;
	struct rcore_memory *memory;
	unsigned machine;
	Dwfl_Callbacks callbacks;
	/* Set in the helper, which alone opens debug files. */
	bool reads_debug_files;
	/*
	 * Callbacks point to it; it belongs to the debug information of some
	 * module.
	 */
	char *folders;
	Dwfl *dwfl;
	Elf64_Ehdr header; /* shows libdwfl the machine if no file is here */
	Elf *header_elf;
	struct rcore_module_entry vdso;
	struct rcore_native_module *items;
	size_t count;
	/*
	 * Something was not found because memory is short. libelf and libdwfl
	 * do not search for it again: close this, and open it again.
	 */
	bool lacks_memory;
};

/*
 * `memory` is the overlaid memory; both must outlive the result. After an
 * error, there is nothing to close.
 */
struct rcore_error *rcore_native_modules_open(struct rcore_modules *modules,
					      struct rcore_memory *memory, unsigned machine,
					      struct rcore_native_modules **ret);
/* NULL-safe. */
void rcore_native_modules_close(struct rcore_native_modules *native);

/* Returns the module that maps an address, or NULL. */
struct rcore_native_module *rcore_native_module_at(struct rcore_native_modules *native,
						   uint64_t address);

/*
 * Call this right after a function of libelf or libdwfl, before which errno was
 * 0, with what it has found. Sets lacks_memory if that is nothing because
 * memory is short.
 */
void rcore_native_module_check(struct rcore_native_module *module, const void *found);

/*
 * Finds the function, or the part of one, whose call frame information covers
 * an address of the module. Returns false if it is unknown.
 */
bool rcore_native_module_fde(struct rcore_native_module *module, uint64_t address,
			     uint64_t *start, uint64_t *end);

#endif
