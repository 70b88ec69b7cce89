/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_TASKS_H
#define RCORE_VM_TASKS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum {
	RCORE_TASK_LIMIT = 1000000,
	RCORE_TASK_DEPTH_LIMIT = 10000, /* nested tasks */
};

/*
 * If the gem `async` is loaded, sets snapshot->tasks to its tree, parents
 * before children.
 *
 *   Fiber @async_task (2.x), Thread#[:async_task] (1.x) ──> Async::Task
 *   Async::Node   @parent, @children ──> Async::List, @annotation, @transient
 *   Async::List   @tail ──> the first node, whose @tail is the next one;
 *                 that of the last is nil (1.x) or the list itself (2.x)
 *   Async::Task   @fiber, and @status or (from 2.29 on)
 *                 @promise ──> Async::Promise @resolved
 *
 * A running task's annotation is its fiber's (the gem fiber-annotation). The
 * objects' ivars decide which of these forms to read, not the version of the
 * gem. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_tasks(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot);

#endif
