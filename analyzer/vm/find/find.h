/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIND_H
#define RCORE_VM_FIND_H

/*
 * vm/find/ finds the VM in a stripped Ruby, walks its lists, and searches the
 * heap for fibers. It includes target/memory.h, a layout, and ruby/. Start
 * here.
 */

#include "base/error.h"
#include "layout/layout.h"
#include "target/memory.h"

/*
 * Whether there is a rb_vm_t at `address`. The main thread's vm must point
 * back, its EC's thread_ptr must point back to the thread, and (from 3.0 on)
 * the main ractor's main thread must be that thread; in a layout without
 * ractor.threads_main, the thread's ractor must be that ractor. Other memory
 * does not pass three such round trips by chance.
 */
bool rcore_vm_prove(struct rcore_memory *memory, const struct rcore_layout *layout,
		    uint64_t address);

/*
 * Whether ruby_vm_destruct() of vm.c is freeing the rb_vm_t at `address`: it
 * empties the list of ractors but does not reset their number. free() then
 * overwrites the list. Returns false before 3.0, because such a VM then looks
 * like one that is being created.
 */
bool rcore_vm_is_freed(struct rcore_memory *memory, const struct rcore_layout *layout,
		       uint64_t address);

/*
 * Reads the pointer variable at `variable` (ruby_current_vm_ptr) and checks
 * that it points to a rb_vm_t.
 */
bool rcore_vm_at(struct rcore_memory *memory, const struct rcore_layout *layout,
		 uint64_t variable, uint64_t *ret);

/*
 * The most bytes of one range that a search reads. The .data and .bss of
 * libruby together have less than 1 MiB.
 */
enum { RCORE_SEARCH_LIMIT = 64 << 20 };

/*
 * Searches each aligned word of [start, end) for a pointer to a rb_vm_t, and
 * skips words that cannot be read. Sets *ret_variable to the address of the
 * word. Returns false if there is none.
 */
bool rcore_vm_search(struct rcore_memory *memory, const struct rcore_layout *layout,
		     uint64_t start, uint64_t end, uint64_t *ret, uint64_t *ret_variable);

#endif
