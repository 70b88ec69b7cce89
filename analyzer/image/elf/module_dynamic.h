/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_DYNAMIC_H
#define RCORE_IMAGE_MODULE_DYNAMIC_H

#include "image/elf/dynamic.h"
#include "image/elf/module_private.h"

/* A file, read at the addresses in its program headers. */
struct rcore_file_memory {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	const struct rcore_elf *elf;
};

/*
 * The dynamic section of a module: that of its file, or, if the file is
 * missing, that in memory. Must not be moved.
 */
struct rcore_module_dynamic {
	struct rcore_file_memory file;
	struct rcore_dynamic dynamic;
};

/* Returns false if there is none or it cannot be read. */
bool rcore_module_dynamic(struct rcore_modules *modules, const struct rcore_module_entry *entry,
			  struct rcore_module_dynamic *ret);

#endif
