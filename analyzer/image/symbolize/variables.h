/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_VARIABLES_H
#define RCORE_IMAGE_VARIABLES_H

#include "image/elf/modules.h"

/* Bytes of a name, with its NUL. */
enum { RCORE_VARIABLE_NAME = 248 };

/* The static variable of C code that contains an address. */
struct rcore_c_variable {
	/* Demangled; "": no symbol contains the address. */
	char name[RCORE_VARIABLE_NAME];
	uint64_t offset; /* of the address in the variable */
};

/*
 * Names the variables of a module that contain run-time addresses, which are in
 * ascending order, by its symbols: .symtab of its file or debug file, otherwise
 * .dynsym. A static variable of a function has the name that it has in the
 * source. `ret` has room for `count` of them.
 */
void rcore_name_variables(struct rcore_modules *modules, struct rcore_module *module,
			  const uint64_t *addresses, size_t count,
			  struct rcore_c_variable *ret);

#endif
