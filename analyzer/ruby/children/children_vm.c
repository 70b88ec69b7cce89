/* SPDX-License-Identifier: MIT */
/*
 * Threads, fibers and Ractors: thread_mark() and rb_execution_context_mark() of
 * vm.c, fiber_mark() and cont_mark() of cont.c, ractor_mark() of ractor.c. The
 * members of their structs are scanned as words, since all that look like
 * references are.
 */
#include "ruby/children/children_private.h"

#include "model/snapshot.h"
#include "ruby/object/id_table.h"

enum {
	STACK_LIMIT = 1 << 24, /* words */
	FRAME_LIMIT = 1 << 20,
	THREAD_LIMIT = 1 << 20,
	ENV_DATA_INDEX_ME_CREF = -2, /* of vm_core.h */
	ENV_DATA_INDEX_SPECVAL = -1,
	ENV_DATA_INDEX_ENV = 1,
	/* Words between the variables and ep. */
	ENV_DATA_BEFORE_EP = 2,
	ENV_FLAG_LOCAL = 2,
	ENV_FLAG_ESCAPED = 4,
};

static uint64_t slot_of(struct rcore_children *children, uint64_t ep, int index)
{
	uint64_t value = 0;
	if (rcore_read_u64(children->ruby->memory, ep + (uint64_t)(int64_t)index * 8, &value))
		children->state |= RCORE_HEAP_PARTIAL;
	return value;
}

/* The environments of a block's frame that are on the heap. */
static void mark_envs(struct rcore_children *children, uint64_t ep)
{
	uint64_t flags = slot_of(children, ep, 0);
	if (flags & ENV_FLAG_LOCAL)
		return;
	uint64_t outer = slot_of(children, ep, ENV_DATA_INDEX_SPECVAL) & ~UINT64_C(3);
	if (slot_of(children, outer, 0) & ENV_FLAG_ESCAPED)
		rcore_child_mark_named(children, slot_of(children, outer, ENV_DATA_INDEX_ENV),
				       "environment");
	if (!(flags & ENV_FLAG_ESCAPED) || !children->ruby->layout->traits.frames_mark_env)
		return;
	rcore_child_mark_named(children, slot_of(children, ep, ENV_DATA_INDEX_ENV),
			       "environment");
	rcore_child_mark_named(children, slot_of(children, ep, ENV_DATA_INDEX_ME_CREF),
			       "method entry");
}

static void mark_frames(struct rcore_children *children, uint64_t cfp, uint64_t end)
{
	const uint32_t size = children->ruby->layout->cfp.size;
	for (unsigned i = 0; size && cfp < end && i < FRAME_LIMIT; i++, cfp += size) {
		RCORE_CHILD_MARK_AT(children, cfp, cfp, self);
		RCORE_CHILD_MARK_AT(children, cfp, cfp, iseq);
		RCORE_CHILD_MARK_AT(children, cfp, cfp, block_code);
		uint64_t ep = RCORE_CHILD_READ(children, cfp, cfp, ep);
		if (ep)
			mark_envs(children, ep);
	}
}

/* VM stacks and machine stacks: words that look like references. */
static void mark_words(struct rcore_children *children, uint64_t start, uint64_t end)
{
	if (!start || !end || start == end)
		return;
	uint64_t low = start < end ? start : end, high = start < end ? end : start;
	uint64_t count = (high - low) / sizeof(uint64_t);
	if (count > STACK_LIMIT)
		children->state |= RCORE_HEAP_PARTIAL;
	else
		rcore_child_mark_values(children, low, count, RCORE_EDGE_CONSERVATIVE);
}

static void mark_storage(struct rcore_children *children, uint64_t table)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, value;
	bool found = true;
	if (children->ruby->layout->traits.local_storage_is_st) {
		rcore_child_mark_st_values(children, table, RCORE_EDGE_FIBER_LOCAL);
		return;
	}
	struct rcore_error *err =
		table ? rcore_id_table_begin(&iterator, children->ruby, table) : NULL;
	while (!err && table && found) {
		err = rcore_id_table_next(&iterator, &found, &serial, &value);
		if (!err && found)
			rcore_child_mark(children, value, RCORE_EDGE_FIBER_LOCAL, serial);
	}
	rcore_child_failed(children, err);
}

/*
 * Visits the words below sp. The innermost frame may not have written its
 * variables yet, so its words only look like references. The variables of all
 * other frames are certain.
 */
static void mark_vm_stack(struct rcore_children *children, uint64_t stack, uint64_t cfp,
			  uint64_t end)
{
	const uint32_t frame_size = children->ruby->layout->cfp.size;
	const uint64_t lowest = stack + ENV_DATA_BEFORE_EP * sizeof(uint64_t);
	uint64_t high = RCORE_CHILD_READ(children, cfp, cfp, sp);
	cfp += frame_size;
	for (unsigned i = 0; frame_size && cfp < end && i < FRAME_LIMIT;
	     i++, cfp += frame_size) {
		uint64_t ep = RCORE_CHILD_READ(children, cfp, cfp, ep);
		uint64_t iseq = RCORE_CHILD_READ(children, cfp, cfp, iseq);
		uint64_t size =
			ep > lowest && ep < high ? rcore_child_count_locals(children, iseq) : 0;
		uint64_t above = ep - ENV_DATA_BEFORE_EP * sizeof(uint64_t);
		if (!size || size > (above - stack) / sizeof(uint64_t))
			continue;
		mark_words(children, above, high);
		rcore_child_mark_locals(children, iseq, ep, size);
		high = above - size * sizeof(uint64_t);
	}
	if (high > stack)
		mark_words(children, stack, high);
}

/* What an execution context refers to; the struct of a thread, a fiber ... */
static void mark_ec(struct rcore_children *children, uint64_t ec)
{
	uint64_t stack = RCORE_CHILD_READ(children, ec, ec, vm_stack);
	uint64_t size = RCORE_CHILD_READ(children, ec, ec, vm_stack_size);
	uint64_t cfp = RCORE_CHILD_READ(children, ec, ec, cfp);
	if (stack && cfp && size <= STACK_LIMIT) {
		const uint64_t top = stack + size * sizeof(uint64_t);
		mark_vm_stack(children, stack, cfp, top);
		mark_frames(children, cfp, top);
	}
	uint64_t start = RCORE_CHILD_READ(children, ec, ec, machine_stack_start);
	uint64_t end = RCORE_CHILD_READ(children, ec, ec, machine_stack_end);
	const struct rcore_field *regs = &children->ruby->layout->ec.machine_regs;
	mark_words(children, start, end);
	/* Without a stack, they are those of an earlier marking. */
	if (start && end && rcore_has_place(regs))
		rcore_child_mark_values(children, ec + (uint64_t)regs->offset,
					regs->size / sizeof(uint64_t), RCORE_EDGE_CONSERVATIVE);
	RCORE_CHILD_MARK_AT(children, ec, ec, errinfo);
	RCORE_CHILD_MARK_AT(children, ec, ec, root_svar);
	mark_storage(children, RCORE_CHILD_READ(children, ec, ec, local_storage));
	RCORE_CHILD_MARK_AT(children, ec, ec, recursive_hash);
	RCORE_CHILD_MARK_AT(children, ec, ec, recursive_hash_for_trace);
	RCORE_CHILD_MARK_AT(children, ec, ec, private_const_reference);
	RCORE_CHILD_MARK_AT(children, ec, ec, storage);
}

/* rb_fiber_mark_self() */
static void mark_fiber_self(struct rcore_children *children, uint64_t fiber)
{
	if (!fiber)
		return;
	uint64_t self = RCORE_CHILD_READ(children, fiber, fiber, self);
	if (self)
		rcore_child_mark_named(children, self, "fiber");
	else
		mark_ec(children,
			fiber + (uint64_t)children->ruby->layout->fiber.saved_ec.offset);
}

/* All words of a struct but its own object. */
static void mark_members(struct rcore_children *children, uint64_t data, uint32_t size)
{
	for (uint64_t i = 0; i < size / sizeof(uint64_t); i++) {
		uint64_t value;
		if (rcore_read_u64(children->ruby->memory, data + i * sizeof(value), &value))
			children->state |= RCORE_HEAP_PARTIAL;
		else if (value != children->object)
			rcore_child_mark(children, value, RCORE_EDGE_CONSERVATIVE, i);
	}
}

void rcore_children_of_thread(struct rcore_children *children, uint64_t data)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t ec = RCORE_CHILD_READ(children, data, thread, ec);
	uint64_t ractor = RCORE_CHILD_READ(children, data, thread, ractor);
	if (ec)
		mark_fiber_self(children, RCORE_CHILD_READ(children, ec, ec, fiber_ptr));
	if (ractor)
		rcore_child_mark_named(
			children, RCORE_CHILD_READ(children, ractor, ractor, self), "ractor");
	mark_members(children, data, layout->thread.size);
	mark_fiber_self(children, RCORE_CHILD_READ(children, data, thread, root_fiber));
	if (ec && layout->traits.threads_mark_ec)
		mark_ec(children, ec);
}

/*
 * The machine stack of a fiber that is parked. Up to 3.3 its saved_ec does not
 * have the bounds. In a fiber that was resumed they are stale, but CRuby marks
 * that, too.
 */
static void mark_machine_stack(struct rcore_children *children, uint64_t fiber)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t status = RCORE_CHILD_READ(children, fiber, fiber, status);
	if (!layout->traits.fibers_mark_stack || status == RCORE_FIBER_TERMINATED)
		return;
	uint64_t stack = RCORE_CHILD_READ(children, fiber, fiber, machine_stack);
	uint64_t count = RCORE_CHILD_READ(children, fiber, fiber, machine_stack_size);
	if (count > STACK_LIMIT)
		children->state |= RCORE_HEAP_PARTIAL;
	else if (stack)
		rcore_child_mark_values(children, stack, count, RCORE_EDGE_CONSERVATIVE);
}

void rcore_children_of_fiber(struct rcore_children *children, uint64_t data)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t prev = RCORE_CHILD_READ(children, data, fiber, prev);
	uint64_t ec = data + (uint64_t)layout->fiber.saved_ec.offset;
	uint64_t thread = RCORE_CHILD_READ(children, ec, ec, thread_ptr);
	RCORE_CHILD_MARK_AT(children, data, fiber, first_proc);
	mark_fiber_self(children, prev);
	RCORE_CHILD_MARK_AT(children, data, fiber, self);
	RCORE_CHILD_MARK_AT(children, data, fiber, value);
	mark_ec(children, ec);
	if (thread)
		rcore_child_mark_named(
			children, RCORE_CHILD_READ(children, thread, thread, self), "thread");
	mark_machine_stack(children, data);
}

void rcore_children_of_ractor(struct rcore_children *children, uint64_t data)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t head = data + (uint64_t)layout->ractor.threads_set.offset, node;
	mark_members(children, data, layout->ractor.size);
	if (!rcore_has_place(&layout->ractor.threads_set) ||
	    rcore_read_u64(children->ruby->memory, head, &node))
		return;
	for (unsigned i = 0; node != head && i < THREAD_LIMIT; i++) {
		uint64_t thread = node - (uint64_t)layout->thread.node.offset;
		rcore_child_mark_named(
			children, RCORE_CHILD_READ(children, thread, thread, self), "thread");
		if (rcore_read_u64(children->ruby->memory, node, &node))
			return;
	}
}
