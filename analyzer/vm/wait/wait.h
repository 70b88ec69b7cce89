/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WAIT_H
#define RCORE_VM_WAIT_H

/*
 * vm/wait/ finds what each thread and fiber waits for, and who holds which
 * lock. It includes the rest of vm/ and ruby/. Start here; wait_private.h lists
 * the files.
 */

#include "vm/loader.h"

/*
 * Sets what each fiber waits for and which locks are held, after threads,
 * fibers and frames are loaded. Uses the best evidence available: first the
 * VM's own lists of waiters (of a Mutex, a Queue, a thread's end, a file
 * descriptor, the GVL), then the method that a blocked fiber is in, then the
 * system call that its kernel thread is in. No wait is known for a fiber that
 * runs or that its program parked. If a list is broken, sets
 * snapshot->wait_problem or the lock's problem. Error: NO_MEMORY.
 */
struct rcore_error *rcore_load_waits(struct rcore_loader *loader);

#endif
