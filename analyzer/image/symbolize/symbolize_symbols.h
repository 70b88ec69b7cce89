/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_SYMBOLS_H
#define RCORE_IMAGE_SYMBOLIZE_SYMBOLS_H

#include <elfutils/libdwfl.h>

/*
 * The functions of a module by address, from the best symbol table that libdwfl
 * finds: .symtab of the file or its debug file, otherwise .dynsym.
 * (dwfl_module_addrinfo() reads the whole table for each address.)
 */
struct rcore_symbols;

struct rcore_function_symbol {
	uint64_t start, size; /* size 0: a label in hand-written assembly */
	const char *name;     /* of the file; may end with "@VERSION" */
	/* Private: of several at one address, the best one comes first. */
	int rank, index;
};

/* Returns NULL if memory is short. */
struct rcore_symbols *rcore_symbols_new(Dwfl_Module *module);
void rcore_symbols_free(struct rcore_symbols *symbols); /* NULL-safe */

/*
 * Returns the function that contains the address, or NULL. A label counts only
 * if it is not before `fde_start`, the start of the call frame information for
 * the address (0 if unknown).
 */
const struct rcore_function_symbol *rcore_symbols_find(const struct rcore_symbols *symbols,
						       uint64_t address, uint64_t fde_start);

/* Returns the only function of this name; NULL if there is none, or several. */
const struct rcore_function_symbol *rcore_symbols_named(const struct rcore_symbols *symbols,
							const char *name, size_t size);

#endif
