/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULE_HELPER_H
#define RCORE_IMAGE_MODULE_HELPER_H

#include "base/helper.h"
#include "image/elf/module_private.h"

/*
 * Everything that libdw reads of a module's symbols and DWARF, and every name
 * that is demangled, goes through here: a function runs in the helper of
 * `modules`, which is its context. (Call frame information is read in this
 * process, because each step of an unwinder needs it.)
 */

/*
 * Calls a function in the helper about a module of the list. Returns false if
 * the helper died, or did so before when it read this module.
 */
bool rcore_module_helper_call(struct rcore_modules *modules, struct rcore_module_entry *entry,
			      rcore_helper_function *function, const void *request, size_t size,
			      void *reply, size_t *ret_size);

/*
 * Does the same, except that a helper that read the same file for another
 * process may have answered already (rcore_module_options.answers). Use it if
 * the answer is the same for all processes. The request begins with the
 * module's index, a size_t. `room` is the size of `reply`.
 */
bool rcore_module_helper_ask(struct rcore_modules *modules, struct rcore_module_entry *entry,
			     rcore_helper_function *function, const void *request, size_t size,
			     void *reply, size_t *ret_size);

/*
 * Returns room for a reply, which the next call of this function overwrites, or
 * NULL if memory is short. It is too large for a stack.
 */
char *rcore_module_helper_room(struct rcore_modules *modules);

/* In the helper: the module of an index, or NULL. */
struct rcore_module_entry *rcore_module_of_index(struct rcore_modules *modules, size_t index);
size_t rcore_module_index(const struct rcore_modules *modules,
			  const struct rcore_module_entry *entry);

#endif
