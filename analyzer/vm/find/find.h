/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIND_H
#define RCORE_VM_FIND_H

/*
 * vm/find/ finds the VM in a stripped Ruby, walks its lists, and searches the
 * heap for fibers. Start here.
 */

#include "base/error.h"
#include "layout/layout.h"
#include "target/memory.h"

/* Does a rb_vm_t stand at `address`? The main thread's vm points back, its EC's thread_ptr
 * points back to the thread, and (3.0 on) the main ractor's main thread is that thread; in a layout
 * without ractor.threads_main, the thread's ractor is that ractor. Three
 * round trips through pointers: no other memory passes by chance. */
bool rcore_vm_prove(struct rcore_memory *memory, const struct rcore_layout *layout,
		    uint64_t address);

/* Reads the pointer variable at `variable` (ruby_current_vm_ptr) and proves it. */
bool rcore_vm_at(struct rcore_memory *memory, const struct rcore_layout *layout,
		 uint64_t variable, uint64_t *ret);

/* Bytes of one range that a search goes through at most; libruby's .data and .bss are
 * under 1 MiB together. */
enum { RCORE_SEARCH_LIMIT = 64 << 20 };

/* Searches each aligned word of [start, end) for a pointer to a rb_vm_t; the words that
 * cannot be read are passed over. false: none. */
bool rcore_vm_search(struct rcore_memory *memory, const struct rcore_layout *layout,
		     uint64_t start, uint64_t end, uint64_t *ret);

#endif
