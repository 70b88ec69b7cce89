/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_POOLS_H
#define RCORE_VM_POOLS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * Finds the connection pools of known libraries that fibers wait for, and who
 * has their connections. Sets snapshot->pools, and makes the fibers' waits
 * RCORE_WAIT_CONNECTION or RCORE_WAIT_INTERLOCK. A pool for which nobody waits
 * is not found. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_pools(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot);

#endif
