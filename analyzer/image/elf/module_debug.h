/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_DEBUG_H
#define RCORE_IMAGE_MODULE_DEBUG_H

#include <elfutils/libdwfl.h>

#include "image/elf/module_private.h"
#include "image/elf/symbol_index.h"

/*
 * A module's file and its debug file as libdwfl sees them, at the addresses in
 * the file. libdwfl looks for the debug file where distributions install it
 * (.build-id folders, .gnu_debuglink), asks debuginfod if the user has set
 * DEBUGINFOD_URLS, and reads the compressed .gnu_debugdata.
 */
struct rcore_module_debug {
	const struct rcore_module *found; /* with the file that was opened */
	Dwfl_Callbacks callbacks;
	char *folders; /* callbacks point to it */
	char *image;   /* replaces the module's file if that is missing */
	size_t image_size;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: neither file nor debug file */
	bool looked_for_file;
	const char *file;
	struct rcore_symbol_index *variables;
};

/* Opened by the first call. Returns NULL if memory is short. */
struct rcore_module_debug *rcore_module_debug(struct rcore_modules *modules,
					      struct rcore_module_entry *entry);

#endif
