/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_DEBUG_H
#define RCORE_IMAGE_MODULE_DEBUG_H

#include <elfutils/libdwfl.h>

#include "image/elf/module_private.h"
#include "image/elf/symbol_index.h"

/*
 * A module's file and its debug file as libdwfl sees them, at the file's own
 * addresses. libdwfl looks for the debug file where distributions put it
 * (.build-id folders, .gnu_debuglink) and, when the user has set
 * DEBUGINFOD_URLS, asks debuginfod; it also reads the compressed
 * .gnu_debugdata.
 */
struct rcore_module_debug {
	Dwfl_Callbacks callbacks;
	char *folders; /* callbacks point to it */
	char *image;   /* stands for the module's file where that is not here */
	size_t image_size;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: neither file nor debug file */
	bool looked_for_file;
	const char *file;
	struct rcore_symbol_index *variables;
};

/* Made at the first call; NULL: memory is short. */
struct rcore_module_debug *rcore_module_debug(struct rcore_modules *modules,
					      struct rcore_module_entry *entry);

#endif
