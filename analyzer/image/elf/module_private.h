/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_PRIVATE_H
#define RCORE_IMAGE_MODULE_PRIVATE_H

#include "base/arena.h"
#include "image/unwind/call_frames.h"
#include "image/elf/elf_file.h"
#include "image/elf/modules.h"
#include "image/elf/symbol_index.h"

struct rcore_module_debug;

/* A module with what image/ knows of it. */
struct rcore_module_entry {
	/* First: the public functions cast back. */
	struct rcore_module module;
	/* From the target's memory; count 0: unreadable. */
	struct rcore_elf_headers headers;
	struct rcore_call_frames frames; /* of the vdso */
	/* Mapping.file of a live process; NULL: none. */
	const char *live_file;
	/* Module.bias is right even without a file. */
	bool bias_known;
	/* Where its dynamic section is; 0: not known. */
	uint64_t dynamic;
	struct rcore_module_debug *debug; /* made when first asked for */
	struct rcore_symbol_index *symbols;
};

/* A range that maps a module's file. */
struct rcore_module_row {
	uint64_t start, end, file_offset;
	size_t module;
	/* By its program header, whatever was done to it later. */
	bool writable;
};

struct rcore_modules {
	const struct rcore_process *process;
	struct rcore_memory *memory;
	struct rcore_module_options options; /* a copy, of `arena` */
	struct rcore_arena arena;
	uint64_t page_size;

	struct {
		struct rcore_module_entry *items;
		size_t count, capacity;
	} list; /* by start */
	struct {
		struct rcore_module_row *items;
		size_t count, capacity;
	} rows; /* by start */

	struct rcore_memory overlay;
	struct rcore_memory *below;
	bool anonymous_saved; /* pages that were written are in `below` */
	size_t last_row;
};

/* Of the file where there is one, else of memory; count 0: neither. */
static inline const struct rcore_elf_headers *
rcore_module_headers(const struct rcore_module_entry *entry)
{
	return entry->module.elf ? &entry->module.elf->headers : &entry->headers;
}

/*
 * Fill list (and rows), unsorted, from NT_FILE or from the dynamic linker's
 * list. An entry has path, start, end, headers and, where they are readable,
 * build_id and bias.
 */
struct rcore_error *rcore_modules_from_mappings(struct rcore_modules *modules);
struct rcore_error *rcore_modules_from_link_map(struct rcore_modules *modules);

/* Sets status, file, elf, and bias where only the file can tell it. */
struct rcore_error *rcore_module_find_file(struct rcore_modules *modules,
					   struct rcore_module_entry *entry);

/* The user's EXE for the main program. Errors as rcore_modules_open(). */
struct rcore_error *rcore_module_use_executable(struct rcore_modules *modules,
						struct rcore_module_entry *entry);

void rcore_module_debug_free(struct rcore_module_debug *debug);

#endif
