/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LIST_CHANGE_H
#define RCORE_VM_LIST_CHANGE_H

#include "target/process.h"
#include "vm/find/list.h"

/*
 * A ccan list of who waits, while a node is being put on it: list_add_after_()
 * and list_add_tail_() of ccan/list/list.h are inlined, and a compiler may have
 * the neighbours lead to the node long before its own words are written
 * (Debian's 2.7, rb_thread_io_blocking_region() of thread.c). As rcore_list(),
 * without such a node. It lies in the frame of a thread that runs: anywhere
 * else a node that does not lead back is a corrupt one.
 */
struct rcore_error *rcore_list_of_waiters(struct rcore_memory *memory,
					  const struct rcore_process *process, uint64_t head,
					  size_t limit, uint64_t **ret, size_t *ret_count);

#endif
