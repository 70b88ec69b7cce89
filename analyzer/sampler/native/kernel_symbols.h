/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_KERNEL_SYMBOLS_H
#define RCORE_SAMPLER_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The functions of the running kernel, from /proc/kallsyms: those of the kernel
 * itself and of the modules that are loaded when it is read.
 */
struct rcore_kernel_symbols;

/*
 * Reads a file in the format of /proc/kallsyms, which `path` is except in
 * tests. Errors: OS, LIMIT, NO_MEMORY.
 */
struct rcore_error *rcore_kernel_symbols_read(const char *path,
					      struct rcore_kernel_symbols **ret);
/* NULL-safe. */
void rcore_kernel_symbols_free(struct rcore_kernel_symbols *symbols);

/*
 * Returns whether the kernel hides the addresses (sysctl kernel.kptr_restrict).
 * Then no function is found.
 */
bool rcore_kernel_symbols_are_hidden(const struct rcore_kernel_symbols *symbols);

struct rcore_kernel_symbol {
	const char *name;
	const char *module; /* "[nf_tables]"; NULL: the kernel itself */
};

/* Finds the function at `address`. Returns false if it is unknown. */
bool rcore_kernel_symbol_at(const struct rcore_kernel_symbols *symbols, uint64_t address,
			    struct rcore_kernel_symbol *ret);

#endif
