/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_DYNAMIC_H
#define RCORE_IMAGE_DYNAMIC_H

#include "image/elf/elf_headers.h"
#include "target/memory.h"

/*
 * Finds exported symbols like the dynamic linker: through PT_DYNAMIC and the
 * hash table that it points to. A lookup reads a few words, however many names
 * there are. It works for a file and for a module in memory.
 */
struct rcore_dynamic {
	struct rcore_memory *memory;
	/* What to add to an address of the file to read it. */
	uint64_t bias;
	/* In `memory`; 0 if there is none. */
	uint64_t symbols, strings, strings_size, gnu_hash, sysv_hash;
	/*
	 * Elf64_Rela for data and for the procedure linkage table; addresses in
	 * `memory` and sizes in bytes.
	 */
	uint64_t relocations, relocations_size, plt_relocations, plt_relocations_size;
	/* DT_DEBUG: struct r_debug of the dynamic linker, or 0. */
	uint64_t debug;
};

/* Returns false if there is no dynamic section or it cannot be read. */
bool rcore_dynamic_init(struct rcore_memory *memory, uint64_t bias,
			const struct rcore_elf_headers *headers, struct rcore_dynamic *ret);

/*
 * Finds a defined symbol of this name that is not a thread-local variable.
 * Returns false if there is none.
 */
bool rcore_dynamic_symbol(const struct rcore_dynamic *dynamic, const char *name, GElf_Sym *ret);

/*
 * Does the same for a thread-local variable; *index (may be NULL) is its index
 * in the symbol table.
 */
bool rcore_dynamic_thread_local(const struct rcore_dynamic *dynamic, const char *name,
				GElf_Sym *ret, uint32_t *index);

#endif
