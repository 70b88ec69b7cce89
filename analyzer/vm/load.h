/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LOAD_H
#define RCORE_VM_LOAD_H

#include "base/error.h"
#include "model/snapshot.h"
#include "ruby/ruby.h"
#include "target/process.h"

/*
 * Fills the snapshot's ractors, threads, fibers, frames and other kernel
 * threads from the rb_vm_t at `vm`. If a part cannot be read, sets its problem
 * and continues. `process` lists the kernel threads, if there are any. Error:
 * NO_MEMORY only.
 */
struct rcore_error *rcore_vm_load(struct rcore_ruby *ruby, uint64_t vm,
				  const struct rcore_process *process,
				  struct rcore_snapshot *snapshot);

#endif
