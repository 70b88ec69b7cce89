/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_DYNAMIC_H
#define RCORE_IMAGE_MODULE_DYNAMIC_H

#include "image/elf/dynamic.h"
#include "image/elf/module_private.h"

/* A file read at the addresses that its program headers give. */
struct rcore_file_memory {
	struct rcore_memory memory; /* first: the callee casts back */
	const struct rcore_elf *elf;
};

/*
 * The dynamic section of a module: of its file where there is one, else in
 * memory. Must not be moved.
 */
struct rcore_module_dynamic {
	struct rcore_file_memory file;
	struct rcore_dynamic dynamic;
};

/* false: there is none, or it cannot be read. */
bool rcore_module_dynamic(struct rcore_modules *modules, const struct rcore_module_entry *entry,
			  struct rcore_module_dynamic *ret);

#endif
