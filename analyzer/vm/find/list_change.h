/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LIST_CHANGE_H
#define RCORE_VM_LIST_CHANGE_H

#include "target/process.h"
#include "vm/find/list.h"

/*
 * Like rcore_list(), for a list of waiters to which a thread may just be adding
 * a node; leaves that node out. list_add_after_() and list_add_tail_() of
 * ccan/list/list.h (with the prefix ccan_ from 3.2 on) are inlined, and a
 * compiler may let the neighbours point to the node long before it writes the
 * node's own words (Debian's 2.7, rb_thread_io_blocking_region() of thread.c).
 * Such a node is in the frame of a running thread. Anywhere else, a node that
 * does not point back is corrupt.
 */
struct rcore_error *rcore_list_of_waiters(struct rcore_memory *memory,
					  const struct rcore_process *process, uint64_t head,
					  size_t limit, uint64_t **ret, size_t *ret_count);

#endif
