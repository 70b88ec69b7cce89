/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_DYNAMIC_H
#define RCORE_IMAGE_DYNAMIC_H

#include "image/elf/elf_headers.h"
#include "target/memory.h"

/*
 * Exported symbols by the way of the dynamic linker: PT_DYNAMIC, then the hash
 * table it names. A look-up touches a handful of words, however many names
 * there are, and works on a file and on a module in memory alike.
 */
struct rcore_dynamic {
	struct rcore_memory *memory;
	/* What is to be added to an address of the file to read it. */
	uint64_t bias;
	/* In `memory`; 0: none. */
	uint64_t symbols, strings, strings_size, gnu_hash, sysv_hash;
	/*
	 * Elf64_Rela, for data and for the linkage table; in `memory`, bytes.
	 */
	uint64_t relocations, relocations_size, plt_relocations, plt_relocations_size;
	/* DT_DEBUG: struct r_debug of the dynamic linker; 0: none. */
	uint64_t debug;
};

/* false: no dynamic section, or it cannot be read. */
bool rcore_dynamic_init(struct rcore_memory *memory, uint64_t bias,
			const struct rcore_elf_headers *headers, struct rcore_dynamic *ret);

/*
 * A defined symbol of this name that is no thread-local variable; false: none.
 */
bool rcore_dynamic_symbol(const struct rcore_dynamic *dynamic, const char *name, GElf_Sym *ret);

/*
 * The same for a thread-local one; *index (may be NULL) is its place in the
 * symbol table.
 */
bool rcore_dynamic_thread_local(const struct rcore_dynamic *dynamic, const char *name,
				GElf_Sym *ret, uint32_t *index);

#endif
