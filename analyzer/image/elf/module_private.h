/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_PRIVATE_H
#define RCORE_IMAGE_MODULE_PRIVATE_H

#include "base/arena.h"
#include "image/unwind/call_frames.h"
#include "image/elf/elf_file.h"
#include "image/elf/modules.h"
#include "image/elf/symbol_index.h"

struct rcore_module_debug;
struct rcore_helper;
struct rcore_native_modules;

/* A module, with what image/ knows about it. */
struct rcore_module_entry {
	/* Must come first: the public functions cast it back. */
	struct rcore_module module;
	/* From the target's memory; count 0 if unreadable. */
	struct rcore_elf_headers headers;
	struct rcore_call_frames frames; /* of the vdso */
	/* mapping.file of a live process, or NULL. */
	const char *live_file;
	/* module.bias is right even without a file. */
	bool bias_known;
	/* The address of its dynamic section, or 0. */
	uint64_t dynamic;
	struct rcore_module_debug *debug; /* opened by the first request */
	struct rcore_symbol_index *symbols;
	bool has_debug_file; /* whether it was looked for */
	const char *debug_file;
	/* Reading its names killed the helper. */
	bool is_deadly;
};

/* A range that maps a module's file. */
struct rcore_module_row {
	uint64_t start, end, file_offset;
	size_t module;
	/*
	 * According to its program header, even if the protection was changed
	 * later.
	 */
	bool writable;
};

struct rcore_modules {
	const struct rcore_process *process;
	struct rcore_memory *memory;
	struct rcore_module_options options; /* a copy, in `arena` */
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
	bool anonymous_saved; /* `below` contains the pages that were written */
	size_t last_row;
	struct rcore_helper *helper; /* reads names; NULL: not needed yet */
	char *reply;                 /* of it; NULL: not needed yet */
	/* In the helper alone: the modules as libdwfl sees them, with names. */
	struct rcore_native_modules *named;
	char *problem;     /* why some names are missing, or NULL */
	bool lacks_memory; /* for the helper, or for its replies */
};

/* Those of the file, otherwise of memory; count 0 if there are neither. */
static inline const struct rcore_elf_headers *
rcore_module_headers(const struct rcore_module_entry *entry)
{
	return entry->module.elf ? &entry->module.elf->headers : &entry->headers;
}

/*
 * Fill the list (and rows), unsorted, from NT_FILE or from the dynamic linker's
 * list. An entry has path, start, end, headers and, if they can be read,
 * build_id and bias.
 */
struct rcore_error *rcore_modules_from_mappings(struct rcore_modules *modules);
struct rcore_error *rcore_modules_from_link_map(struct rcore_modules *modules);

/* Sets status, file and elf, and the bias if only the file shows it. */
struct rcore_error *rcore_module_find_file(struct rcore_modules *modules,
					   struct rcore_module_entry *entry);

/*
 * Uses the user's EXE for the main program. Errors: those of
 * rcore_modules_open().
 */
struct rcore_error *rcore_module_use_executable(struct rcore_modules *modules,
						struct rcore_module_entry *entry);

void rcore_module_debug_free(struct rcore_module_debug *debug);

#endif
