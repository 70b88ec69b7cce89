/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WAIT_H
#define RCORE_VM_WAIT_H

/*
 * vm/wait/ tells what each thread and fiber waits for, and who holds which
 * lock. Start here.
 */

#include "vm/loader.h"

/*
 * Sets what each fiber waits for and which locks are held, after threads, fibers and frames were
 * loaded. Evidence, best first: the VM's own lists of who waits (a Mutex, a Queue, a thread's end,
 * a file descriptor, the GVL), the method that a blocked fiber's stack is in, the system call that
 * its kernel thread is in. A fiber that runs, or that its program just parked, waits for
 * nothing that is known here. A broken list is told in snapshot->wait_problem or
 * on the lock. Error: NO_MEMORY.
 */
struct rcore_error *rcore_load_waits(struct rcore_loader *loader);

#endif
