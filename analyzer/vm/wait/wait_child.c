/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "ruby/object/class_name.h"
#include "ruby/object/id_table.h"
#include "ruby/object/st_table.h"
#include "ruby/symbol/id.h"
#include "vm/wait/wait_private.h"

/*
 * A thread of Process.detach, which Open3 uses, has no frame. It waits for a
 * child to end, whose pid is in the fiber-local variable :pid of its Thread
 * (rb_detach_process() of process.c). Up to 3.2, its system call does not show
 * this: it sleeps until another thread has seen the signal of the child, or
 * waits for signals itself (waitpid_sleep()).
 */
static bool is_waiter(struct rcore_waits *waits, const struct rcore_thread *thread)
{
	const char *name = NULL;
	if (!thread->object)
		return false;
	rcore_error_free(rcore_value_class_name(waits->loader->ruby, thread->object, &name));
	return rcore_same_text(name, "Process::Waiter");
}

static struct rcore_error *local(struct rcore_waits *waits, uint64_t table, const char *name,
				 bool *found, uint64_t *ret)
{
	enum { MOST = 1000 };
	struct rcore_ruby *ruby = waits->loader->ruby;
	struct rcore_st_iterator iterator;
	uint64_t id, value;
	bool more, is_it;
	if (!ruby->layout->traits.local_storage_is_st)
		return rcore_id_table_find(ruby, table, name, found, ret);
	struct rcore_error *err = rcore_st_begin(&iterator, ruby, table, MOST);
	while (!err && !*found && !(err = rcore_st_next(&iterator, &more, &id, &value)) &&
	       more) {
		err = rcore_id_is(ruby, id, name, &is_it);
		*found = !err && is_it;
		if (*found)
			*ret = value;
	}
	return err;
}

struct rcore_error *rcore_wait_child(struct rcore_waits *waits, int index)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_fiber *fiber = &loader->fibers.items[index];
	const struct rcore_wait *known = fiber->wait;
	uint64_t pid = 0;
	bool found = false;
	if ((known &&
	     (known->source != RCORE_WAIT_BY_SYSCALL || known->kind == RCORE_WAIT_PROCESS)) ||
	    !rcore_wait_is_blocked(waits, fiber) ||
	    !is_waiter(waits, &loader->threads.items[fiber->thread]))
		return NULL;
	uint64_t table =
		rcore_wait_field(waits, fiber->ec, &loader->ruby->layout->ec.local_storage);
	struct rcore_error *err =
		table ? rcore_error_forgive(local(waits, table, "pid", &found, &pid)) : NULL;
	if (err)
		return err;
	struct rcore_wait *wait =
		rcore_wait_new(waits, index, RCORE_WAIT_PROCESS, RCORE_WAIT_BY_FRAME);
	if (!wait)
		return rcore_error_no_memory();
	if (found)
		rcore_wait_set_pid(wait, pid);
	return NULL;
}
