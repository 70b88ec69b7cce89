/* SPDX-License-Identifier: MIT */
/* Execution contexts and their stacks. */
#include "proof/check.h"

bool rcore_check_stack_start(const struct rcore_samples *s, uint64_t start)
{
	return start % sizeof(uint64_t) == 0 && readable(s, start - sizeof(uint64_t));
}

enum rcore_verdict rcore_check_stack_address(const struct rcore_samples *s, uint64_t ec,
					     uint64_t address)
{
	uint64_t start, size;
	if (!get(s, ec, &layout_of(s)->ec.machine_stack_start, &start) ||
	    !get(s, ec, &layout_of(s)->ec.machine_stack_maxsize, &size))
		return RCORE_FAILS;
	if (!rcore_check_stack_start(s, start))
		return RCORE_SILENT;
	return verdict_of(within_stack(start, size, address));
}

/* Control frames grow down from the end of the VM stack. */
CHECK(ec_frames)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t stack, size, cfp;
	if (!get(s, base, &layout->ec.vm_stack, &stack) ||
	    !get(s, base, &layout->ec.vm_stack_size, &size) ||
	    !get(s, base, &layout->ec.cfp, &cfp))
		return RCORE_FAILS;
	if (!stack || !cfp)
		/* rb_ec_set_vm_stack() comes before the first frame */
		return RCORE_SILENT;
	uint64_t end = stack + size * sizeof(uint64_t);
	return verdict_of(stack < cfp && cfp <= end && (end - cfp) % layout->cfp.size == 0);
}

/*
 * The handler of an exception is on the machine stack. The outermost one of a
 * thread is in the frame of thread_start_func_2(), which reserves the VM stack
 * on the machine stack and calls the address below it the start.
 */
static bool is_outermost_tag(const struct rcore_samples *s, uint64_t ec, uint64_t tag)
{
	enum { MAX_FRAME = 4096 };
	const struct rcore_layout *layout = layout_of(s);
	uint64_t stack, size;
	return get(s, ec, &layout->ec.vm_stack, &stack) &&
	       get(s, ec, &layout->ec.vm_stack_size, &size) &&
	       tag - (stack + size * sizeof(uint64_t)) < MAX_FRAME;
}

CHECK(ec_tag)
{
	uint64_t tag;
	if (!get(s, base, field, &tag))
		return RCORE_FAILS;
	if (!tag || is_outermost_tag(s, base, tag))
		return RCORE_SILENT;
	return rcore_check_stack_address(s, base, tag);
}

CHECK(ec_fiber)
{
	uint64_t fiber;
	if (!get(s, base, field, &fiber))
		return RCORE_FAILS;
	return fiber ? verdict_of(member(fiber, &layout_of(s)->fiber.saved_ec) == base)
		     : RCORE_SILENT;
}

CHECK(ec_thread)
{
	uint64_t thread;
	return verdict_of(get(s, base, field, &thread) && is_thread(s, thread));
}

/* nil, an exception, or the object of a throw */
CHECK(ec_errinfo)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return verdict_of(
		rcore_is_nil(s->ruby, value) || value & 1 ||
		is_object(s, value, TYPE(OBJECT) | TYPE(DATA) | TYPE(STRUCT) | TYPE(IMEMO)));
}

/*
 * Whether an EC may lack the bounds of its machine stack. A thread gets them
 * when it starts to run (native_thread_init_stack()). Until then, it has no VM
 * stack either; from 3.3 on, it may have one with no frame, and then one with
 * only the dummy frame (native_thread_create_dedicated(),
 * rb_ec_initialize_vm_stack()). In a forked process, the other threads, which
 * are killed, have lost both stacks (thread_cleanup_func_before_exec()).
 */
static bool has_no_stack(const struct rcore_samples *s, uint64_t ec)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t stack, size, cfp, thread;
	if (!get(s, ec, &layout->ec.vm_stack, &stack) ||
	    !get(s, ec, &layout->ec.vm_stack_size, &size) || !get(s, ec, &layout->ec.cfp, &cfp))
		return false;
	return !stack || !cfp || stack + size * sizeof(uint64_t) - cfp <= layout->cfp.size ||
	       (get(s, ec, &layout->ec.thread_ptr, &thread) &&
		leads(s, thread, &layout->thread.status, RCORE_THREAD_KILLED));
}

/* Its tags are below it. */
CHECK(ec_stack_start)
{
	uint64_t start, tag, size;
	if (!get(s, base, field, &start) || start % sizeof(uint64_t))
		return RCORE_FAILS;
	if (!start)
		return has_no_stack(s, base) ? RCORE_SILENT : RCORE_FAILS;
	if (!get(s, base, &layout_of(s)->ec.tag, &tag) || !tag ||
	    is_outermost_tag(s, base, tag) ||
	    !get(s, base, &layout_of(s)->ec.machine_stack_maxsize, &size))
		return RCORE_SILENT;
	return verdict_of(within_stack(start, size, tag));
}

CHECK(ec_stack_end)
{
	uint64_t end;
	if (!get(s, base, field, &end))
		return RCORE_FAILS;
	return end ? rcore_check_stack_address(s, base, end) : RCORE_SILENT;
}

/*
 * Up to 3.2, the thread's creator sets it to four fifths of the stack's size,
 * even if that is not a multiple of a word (native_thread_create() of
 * thread_pthread.c).
 */
CHECK(ec_stack_maxsize)
{
	enum { LEAST = 4096, WORD = 8 };
	uint64_t size;
	if (!get(s, base, field, &size))
		return RCORE_FAILS;
	bool is_size = size >= LEAST && size < UINT64_C(1) << 47;
	if ((!size || (is_size && size % WORD)) && has_no_stack(s, base))
		return RCORE_SILENT;
	return verdict_of(is_size && size % WORD == 0);
}

/* Fiber[]: nil until something uses it */
CHECK(ec_storage)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return verdict_of(rcore_is_nil(s->ruby, value) || is_object(s, value, TYPE(HASH)));
}

CHECK(ec_local_storage)
{
	uint64_t table, count, capacity;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, field, &table))
		return RCORE_FAILS;
	return table ? verdict_of(get(s, table, &layout->id_table.count, &count) &&
				  get(s, table, &layout->id_table.capacity, &capacity) &&
				  count <= capacity)
		     : RCORE_SILENT;
}
