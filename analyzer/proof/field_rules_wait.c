/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the fields that tell who waits for what, and of others of the VM that only a detail of
 * the report needs.
 */
#include <string.h>

#include "ruby/array.h"
#include "ruby/data.h"
#include "ruby/string.h"
#include "proof/check.h"

JUDGE(an_object)
{
	return object_of(s, base, field, ~(TYPE(NONE) | TYPE(IMEMO)));
}

/* "main": an Object with methods of its own (to_s, inspect). */
JUDGE(main_object)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t object, klass, flags;
	if (!get(s, base, field, &object))
		return RCORE_FAILS;
	if (!object)
		return RCORE_SILENT;
	return told(is_object(s, object, TYPE(OBJECT)) &&
		    get(s, object, &layout->basic.klass, &klass) &&
		    get(s, klass, &layout->basic.flags, &flags) &&
		    flags & layout->traits.singleton_flag);
}

/* $LOADED_FEATURES: an Array, no hidden copy of one, with the paths of files. */
JUDGE(loaded_features)
{
	static const char ruby[] = ".rb", library[] = ".so";
	uint64_t array, klass, first, bytes, length;
	char end[4] = {0};
	if (!get(s, base, field, &array) || !is_object(s, array, TYPE(ARRAY)) ||
	    !get(s, array, &layout_of(s)->basic.klass, &klass) || !klass)
		return RCORE_FAILS;
	rcore_auto_error err = rcore_array_at(s->ruby, array, 0, &first);
	if (err)
		return RCORE_SILENT;
	err = rcore_string_bytes(s->ruby, first, &bytes, &length);
	if (err || length < sizeof(end) ||
	    rcore_read(s->ruby->memory, bytes + length - (sizeof(end) - 1), end,
		       sizeof(end) - 1))
		return RCORE_FAILS;
	return told(!strcmp(end, ruby) || !strcmp(end, library));
}

JUDGE(an_array)
{
	return object_of(s, base, field, TYPE(ARRAY));
}

JUDGE(scheduler)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(rcore_is_nil(s->ruby, value) ||
			    is_object(s, value, TYPE(OBJECT) | TYPE(DATA)))
		     : RCORE_SILENT;
}

/* Of a thread that is in no queue it is zero, or leads to itself. */
JUDGE(a_node)
{
	uint64_t next;
	if (!get(s, base, &(struct rcore_field){.offset = field->offset, .size = sizeof(next)},
		 &next))
		return RCORE_FAILS;
	return next ? a_list(s, base, field) : RCORE_SILENT;
}

/* The Proc that a thread of `Thread.new` runs. */
JUDGE(thread_proc)
{
	enum { INVOKE_PROC = 1 };
	if (!leads(s, base, &layout_of(s)->thread.invoke_type, INVOKE_PROC))
		return RCORE_SILENT;
	return object_of(s, base, field, TYPE(DATA));
}

/* enum thread_sched_waiting_flag of thread_pthread.h. */
JUDGE(waiting_flags)
{
	return at_most(s, base, field, 0xff);
}

/* They are given in a row, from one on. */
JUDGE(serial)
{
	uint64_t serial;
	if (!get(s, base, field, &serial) || serial > UINT32_MAX)
		return RCORE_FAILS;
	return serial ? RCORE_HOLDS : RCORE_SILENT;
}

JUDGE(holder_thread)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return told(is_thread(s, value) || is_object(s, value, TYPE(DATA)));
}

JUDGE(fiber_or_null)
{
	uint64_t fiber;
	if (!get(s, base, field, &fiber))
		return RCORE_FAILS;
	return fiber ? told(is_fiber(s, fiber)) : RCORE_SILENT;
}

JUDGE(waiting_thread)
{
	uint64_t thread;
	if (!get(s, base, field, &thread))
		return is_lost(s, base) ? RCORE_SILENT : RCORE_FAILS;
	return thread ? told(is_thread(s, thread)) : RCORE_SILENT;
}

JUDGE(join_list)
{
	uint64_t waiter;
	if (!get(s, base, field, &waiter))
		return RCORE_FAILS;
	return waiter ? waiting_thread(s, waiter, &layout_of(s)->join_waiter.thread)
		      : RCORE_SILENT;
}

JUDGE(waiting_ec)
{
	uint64_t ec;
	return get(s, base, field, &ec) ? waiting_thread(s, ec, &layout_of(s)->ec.thread_ptr)
					: RCORE_FAILS;
}

JUDGE(waiting_fd)
{
	enum { FD_LIMIT = 1 << 20 };
	uint64_t fd;
	return told(get(s, base, field, &fd) && fd < FD_LIMIT &&
		    waiting_thread(s, base, &layout_of(s)->waiting_fd.th) == RCORE_HOLDS);
}

/*
 * As many wait as there are nodes on its list, or more: who wakes a waiter takes its node away (sync_wakeup() of
 * thread_sync.c), and the waiter counts itself out when it runs (queue_sleep_done()). One that begins to
 * wait has a node before it is counted.
 */
static enum rcore_verdict waiters_count(const struct rcore_samples *s, uint64_t base,
					const struct rcore_field *field,
					const struct rcore_field *list)
{
	uint64_t counted;
	size_t listed;
	if (!get(s, base, field, &counted))
		return RCORE_FAILS;
	enum rcore_verdict verdict = list_closes(s, member(base, list), &listed);
	if (verdict != RCORE_HOLDS)
		return verdict;
	if (counted == listed)
		return listed ? RCORE_HOLDS : RCORE_SILENT;
	return counted + 1 < listed || counted > RCORE_THREAD_LIMIT ? RCORE_FAILS
								    : RCORE_SILENT;
}

JUDGE(queue_waiting)
{
	return waiters_count(s, base, field, &layout_of(s)->queue.waitq);
}

JUDGE(queue_waiting_push)
{
	return waiters_count(s, base, field, &layout_of(s)->szqueue.pushq);
}

JUDGE(queue_max)
{
	uint64_t max;
	return told(get(s, base, field, &max) && max && max < UINT64_C(1) << 40);
}

static bool wraps_a(const struct rcore_samples *s, uint64_t value, const char *type_name)
{
	bool is_so = false;
	if (!is_object(s, value, TYPE(DATA)))
		return false;
	rcore_auto_error err = rcore_data_is(s->ruby, value, type_name, &is_so, NULL);
	return !err && is_so;
}

/* Of a Monitor that is held: who holds it, and how often. */
JUDGE(monitor_held)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t count, owner;
	if (!get(s, base, &layout->monitor.count, &count) ||
	    !get(s, base, &layout->monitor.owner, &owner))
		return RCORE_FAILS;
	if (!count)
		return rcore_is_nil(s->ruby, owner) ? RCORE_SILENT : RCORE_FAILS;
	return told(count <= UINT32_MAX &&
		    (wraps_a(s, owner, "VM/thread") || wraps_a(s, owner, "fiber")));
}

JUDGE(monitor_mutex)
{
	uint64_t mutex;
	return told(get(s, base, field, &mutex) && wraps_a(s, mutex, "mutex"));
}

JUDGE(a_data)
{
	return object_of(s, base, field, TYPE(DATA));
}

/* Bit-fields of the word that begins with the fiber's status. */
JUDGE(fiber_flags)
{
	enum { KNOWN_BITS = 7 };
	struct rcore_field word = {.offset = layout_of(s)->fiber.status.offset,
				   .size = sizeof(uint32_t)};
	uint64_t value;
	if (field->offset != word.offset || !get(s, base, &word, &value) || value >> KNOWN_BITS)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

/* What a fiber may use of its stack is no more than that has. */
JUDGE(stack_available)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t start, size, available;
	if (!get(s, base, &layout->fiber.stack_base, &start) ||
	    !get(s, base, &layout->fiber.stack_size, &size) || !get(s, base, field, &available))
		return RCORE_FAILS;
	return start ? told(available && available <= size) : RCORE_SILENT;
}

/* Whether a program may run what lies at `address`; a live process does not say so of each range. */
static bool is_code(const struct rcore_samples *s, uint64_t address)
{
	const struct rcore_process *process = s->process;
	for (size_t i = 0; process && i < process->segment_count; i++)
		if (address - process->segments[i].start < process->segments[i].size)
			return process->segments[i].executable;
	return false;
}

/* Where compiled code goes on after the frame; NULL in the interpreter's frames. ZJIT leaves in it what the place
 * held before (gen_push_frame()), so nothing speaks against it. */
JUDGE(jit_return)
{
	uint64_t address;
	if (!get(s, base, field, &address))
		return RCORE_FAILS;
	return is_code(s, address) ? RCORE_HOLDS : RCORE_SILENT;
}

/* flags: the mode has two bits, and the others of the word say what goes on. */
JUDGE(gc_flags)
{
	enum { KNOWN_BITS = 20 };
	struct rcore_field word = {.offset = layout_of(s)->objspace.gc_mode.offset,
				   .size = sizeof(uint32_t)};
	uint64_t value;
	if (!get(s, base, &word, &value) || value >> KNOWN_BITS)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

const struct rcore_field_rule rcore_wait_rules[] = {
	RULE(vm, waiting_fds, a_list),
	RULE(vm, top_self, main_object),
	RULE(vm, gvl_waitq, a_list),
	RULE(box, top_self, main_object),
	RULE(box, loaded_features, loaded_features),
	RULE(vm, loaded_features, loaded_features),
	RULE(ractor, gvl_waitq, a_list),
	RULE(ractor, sched_readyq, a_list),
	RULE(thread, join_list, join_list),
	RULE(thread, scheduler, scheduler),
	RULE(thread, gvl_node, a_node),
	RULE(thread, readyq_node, a_node),
	RULE(thread, waiting_flags, waiting_flags),
	RULE(thread, invoke_proc, thread_proc),
	RULE(ec, serial, serial),
	RULE(cfp, jit_return, jit_return),
	RULE_ON(parked, fiber, first_proc, a_data),
	RULE(fiber, yielding, fiber_flags),
	RULE(fiber, blocking, fiber_flags),
	RULE(fiber, transferred, fiber_flags),
	RULE_ON(parked, fiber, stack_available, stack_available),
	RULE(mutex, thread, holder_thread),
	RULE(mutex, ec_serial, serial),
	RULE(sync_waiter, self, an_object),
	RULE(sync_waiter, th, waiting_thread),
	RULE(sync_waiter, fiber, fiber_or_null),
	RULE(sync_waiter, node, a_list),
	RULE(join_waiter, next, pointer_or_null),
	RULE(join_waiter, thread, waiting_thread),
	RULE(join_waiter, fiber, fiber_or_null),
	RULE(waiting_fd, node, a_list),
	RULE(waiting_fd, th, waiting_thread),
	RULE(waiting_fd, fd, waiting_fd),
	RULE(blocking_operation, list, a_list),
	RULE(blocking_operation, ec, waiting_ec),
	RULE(queue, waitq, a_list),
	RULE(queue, que, an_array),
	RULE(queue, num_waiting, queue_waiting),
	RULE(szqueue, num_waiting_push, queue_waiting_push),
	RULE(szqueue, pushq, a_list),
	RULE(szqueue, max, queue_max),
	RULE(condvar, waitq, a_list),
	RULE(monitor, count, monitor_held),
	RULE(monitor, owner, monitor_held),
	RULE(monitor, mutex, monitor_mutex),
	RULE(objspace, gc_mode, gc_flags),
	RULE(objspace, during_gc, gc_flags),
};

const size_t rcore_wait_rules_count = sizeof(rcore_wait_rules) / sizeof(*rcore_wait_rules);
