/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_SYMBOLS_H
#define RCORE_IMAGE_SYMBOLIZE_SYMBOLS_H

#include <elfutils/libdwfl.h>

/*
 * Functions of a module by address, out of the best symbol table that libdwfl
 * finds: .symtab of the file or its debug file, else .dynsym.
 * (dwfl_module_addrinfo() reads the whole table for each address that it is
 * asked for.)
 */
struct rcore_symbols;

struct rcore_function_symbol {
	uint64_t start, size; /* size 0: a label of hand-written assembly */
	const char *name;     /* of the file; may end with "@VERSION" */
	/* Private: of several at one address the best comes first. */
	int rank, index;
};

/* NULL: memory is short. */
struct rcore_symbols *rcore_symbols_new(Dwfl_Module *module);
void rcore_symbols_free(struct rcore_symbols *symbols); /* NULL-safe */

/*
 * The function that holds the address. A label counts only where it is not
 * before `fde_start`, the start of the call frame information for the address
 * (0: unknown). NULL: none.
 */
const struct rcore_function_symbol *rcore_symbols_find(const struct rcore_symbols *symbols,
						       uint64_t address, uint64_t fde_start);

/* The only function of this name; NULL: none, or several. */
const struct rcore_function_symbol *rcore_symbols_named(const struct rcore_symbols *symbols,
							const char *name, size_t size);

#endif
