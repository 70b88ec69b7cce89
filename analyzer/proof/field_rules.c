/* SPDX-License-Identifier: MIT */
/*
 * What must hold of each field. A pointer is told by what it points at; of the flags that threads and
 * fibers keep in one word of bit-fields, the bits above them are zero.
 */
#include <stdlib.h>

#include "proof/check.h"
#include "proof/fiber_state.h"
#include "vm/list.h"
#include "vm/vm.h"

/* Members of structs of another version that a field may have been moved past. */
enum { SLACK = 128 };

/* Whether the struct at `address` is the one that the object wraps. */
static bool wraps(const struct rcore_samples *s, uint64_t value, uint64_t address)
{
	return is_object(s, value, TYPE(DATA)) &&
	       leads(s, value, &layout_of(s)->data.data, address);
}

/* The length of the list at `head` that has a node in [start, end); -1: none such. */
static long list_through(const struct rcore_samples *s, uint64_t head, uint64_t start,
			 uint64_t end)
{
	uint64_t *nodes;
	size_t count;
	bool is_through = false;
	rcore_auto_error err =
		rcore_list(s->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &count);
	for (size_t i = 0; i < count; i++)
		is_through |= nodes[i] >= start && nodes[i] < end;
	free(nodes);
	return !err && is_through ? (long)count : -1;
}

static long count_threads(const struct rcore_samples *s, uint64_t head)
{
	uint64_t thread = rcore_samples_main_thread(s);
	return list_through(s, head, thread, thread + layout_of(s)->thread.size + SLACK);
}

static long count_ractors(const struct rcore_samples *s, uint64_t head)
{
	uint64_t ractor = s->ractor.count ? s->ractor.at[0] : 0;
	return list_through(s, head, ractor, ractor + layout_of(s)->ractor.size + SLACK);
}

JUDGE(thread_list)
{
	return told(count_threads(s, member(base, field)) > 0);
}

static enum rcore_verdict counts(const struct rcore_samples *s, uint64_t base,
				 const struct rcore_field *field, long length)
{
	uint64_t value;
	if (length < 0 || !get(s, base, field, &value))
		return RCORE_SILENT;
	/* The list is changed before the counter. */
	if (value && length && ((long)value == length + 1 || (long)value + 1 == length))
		return RCORE_SILENT;
	return told((long)value == length);
}

JUDGE(vm_living_count)
{
	return counts(s, base, field,
		      count_threads(s, member(base, &layout_of(s)->vm.living_threads)));
}

JUDGE(vm_ractor_set)
{
	return told(count_ractors(s, member(base, field)) > 0);
}

JUDGE(vm_ractor_count)
{
	return counts(s, base, field,
		      count_ractors(s, member(base, &layout_of(s)->vm.ractor_set)));
}

JUDGE(vm_main_ractor)
{
	uint64_t ractor;
	return told(
		get(s, base, field, &ractor) && ractor &&
		leads(s, rcore_samples_main_thread(s), &layout_of(s)->thread.ractor, ractor));
}

JUDGE(a_thread)
{
	uint64_t thread;
	if (!get(s, base, field, &thread))
		return RCORE_FAILS;
	return thread ? told(is_thread(s, thread)) : RCORE_SILENT;
}

JUDGE(vm_shape_list)
{
	uint64_t shapes, parent, type;
	return told(get(s, base, field, &shapes) &&
		    get(s, shapes, &layout_of(s)->shape.parent_id, &parent) &&
		    get(s, shapes, &layout_of(s)->shape.type, &type) && parent == UINT32_MAX &&
		    type == 0);
}

JUDGE(vm_objspace)
{
	uint64_t objspace;
	return get(s, base, field, &objspace) ? rcore_judge_heap(s, objspace) : RCORE_FAILS;
}

JUDGE(a_box)
{
	uint64_t box;
	if (!get(s, base, field, &box))
		return RCORE_FAILS;
	return box ? object_of(s, box, &layout_of(s)->box.loaded_features, TYPE(ARRAY))
		   : RCORE_SILENT;
}

JUDGE(own_object)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(wraps(s, value, base)) : RCORE_SILENT;
}

JUDGE(ractor_id)
{
	uint64_t id;
	return told(get(s, base, field, &id) && id > 0 && id < RCORE_RACTOR_LIMIT);
}

JUDGE(ractor_threads_count)
{
	return counts(s, base, field,
		      count_threads(s, member(base, &layout_of(s)->ractor.threads_set)));
}

JUDGE(ractor_main)
{
	uint64_t thread;
	return told(get(s, base, field, &thread) &&
		    leads(s, thread, &layout_of(s)->thread.ractor, base));
}

JUDGE(ractor_running_ec)
{
	uint64_t ec, thread;
	if (!get(s, base, field, &ec))
		return RCORE_FAILS;
	return ec ? told(get(s, ec, &layout_of(s)->ec.thread_ptr, &thread) &&
			 leads(s, thread, &layout_of(s)->thread.ractor, base))
		  : RCORE_SILENT;
}

JUDGE(ractor_node)
{
	uint64_t node = member(base, field);
	return told(list_through(s, member(s->vm.at[0], &layout_of(s)->vm.ractor_set), node,
				 node + 1) > 0);
}

/* enum ractor_status: created, running, blocking, terminated. */
JUDGE(ractor_status)
{
	enum { TERMINATED = 3 };
	uint64_t status;
	if (!get(s, base, field, &status) || status > TERMINATED)
		return RCORE_FAILS;
	return status ? RCORE_HOLDS : RCORE_SILENT;
}

/* nil, or a String; NULL in what was not set up. */
JUDGE(a_name)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return told(rcore_is_nil(s->ruby, value) || is_object(s, value, TYPE(STRING)));
}

JUDGE(thread_node)
{
	uint64_t node = member(base, field), head;
	const struct rcore_layout *layout = layout_of(s);
	if (rcore_has(&layout->vm.living_threads))
		head = member(s->vm.at[0], &layout->vm.living_threads);
	else if (s->ractor.count && leads(s, base, &layout->thread.ractor, s->ractor.at[0]))
		head = member(s->ractor.at[0], &layout->ractor.threads_set);
	else
		return RCORE_SILENT;
	return told(list_through(s, head, node, node + 1) > 0);
}

JUDGE(thread_ractor)
{
	uint64_t ractor;
	return told(get(s, base, field, &ractor) && readable(s, ractor));
}

JUDGE(thread_vm)
{
	return told(leads(s, base, field, s->vm.at[0]));
}

JUDGE(thread_ec)
{
	uint64_t ec;
	return told(get(s, base, field, &ec) &&
		    leads(s, ec, &layout_of(s)->ec.thread_ptr, base));
}

/* A thread without one is not on a native thread now (M:N). */
JUDGE(thread_nt)
{
	uint64_t nt;
	if (!get(s, base, field, &nt))
		return RCORE_FAILS;
	return nt ? told(readable(s, nt)) : RCORE_SILENT;
}

static enum rcore_verdict native(const struct rcore_samples *s, uint64_t base,
				 const struct rcore_field *field, bool is_tid)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	for (size_t i = 0; s->process && i < s->process->thread_count; i++) {
		const struct rcore_native_thread *thread = &s->process->threads[i];
		if (is_tid ? (uint64_t)thread->tid == value
			   : value && thread->thread_pointer == value)
			return RCORE_HOLDS;
	}
	return is_tid && value > INT32_MAX ? RCORE_FAILS : RCORE_SILENT;
}

JUDGE(native_tid)
{
	return native(s, base, field, true);
}

/* pthread_t, which is the thread pointer where glibc runs on x86-64. */
JUDGE(native_id)
{
	return native(s, base, field, false);
}

/* The word of bit-fields; zero only in a thread that runs without any of them. */
JUDGE(flag_word)
{
	enum { KNOWN_BITS = 10 };
	struct rcore_field word = {.offset = field->offset, .size = sizeof(uint32_t)};
	uint64_t value;
	if (!get(s, base, &word, &value) || value >> KNOWN_BITS)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

static bool is_stack_start(const struct rcore_samples *s, uint64_t start)
{
	return start % sizeof(uint64_t) == 0 && readable(s, start - sizeof(uint64_t));
}

/* The machine stack that the EC of a thread runs on grows down from its start. One that starts nowhere
 * says nothing of what is to lie on it. */
static enum rcore_verdict on_machine_stack(const struct rcore_samples *s, uint64_t ec,
					   uint64_t address)
{
	uint64_t start, size;
	if (!get(s, ec, &layout_of(s)->ec.machine_stack_start, &start) ||
	    !get(s, ec, &layout_of(s)->ec.machine_stack_maxsize, &size))
		return RCORE_FAILS;
	if (!is_stack_start(s, start))
		return RCORE_SILENT;
	return told(address < start && start - address <= size);
}

JUDGE(thread_region)
{
	uint64_t region, ec;
	if (!get(s, base, field, &region))
		return RCORE_FAILS;
	if (!region)
		return RCORE_SILENT;
	return get(s, base, &layout_of(s)->thread.ec, &ec) ? on_machine_stack(s, ec, region)
							   : RCORE_FAILS;
}

JUDGE(wrapped_or_null)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(is_object(s, value, TYPE(DATA))) : RCORE_SILENT;
}

/* enum thread_invoke_type: none (the main thread's), proc, ractor's proc, func. */
JUDGE(thread_invoke_type)
{
	enum { FUNC = 3 };
	uint64_t type;
	if (!get(s, base, field, &type) || type > FUNC)
		return RCORE_FAILS;
	return type ? RCORE_HOLDS : RCORE_SILENT;
}

JUDGE(a_fiber)
{
	uint64_t fiber;
	if (!get(s, base, field, &fiber))
		return RCORE_FAILS;
	return fiber ? told(is_fiber(s, fiber)) : RCORE_SILENT;
}

/* Control frames grow down from the end of the VM stack. */
static enum rcore_verdict holds_frames(const struct rcore_samples *s, uint64_t ec,
				       const struct rcore_field *stack_field,
				       const struct rcore_field *size_field,
				       const struct rcore_field *cfp_field)
{
	uint64_t stack, size, cfp;
	if (!get(s, ec, stack_field, &stack) || !get(s, ec, size_field, &size) ||
	    !get(s, ec, cfp_field, &cfp))
		return RCORE_FAILS;
	uint64_t end = stack + size * sizeof(uint64_t);
	/* rb_ec_set_vm_stack() comes before the first frame. */
	return stack && cfp ? told(stack < cfp && cfp <= end &&
				   (end - cfp) % layout_of(s)->cfp.size == 0)
			    : RCORE_SILENT;
}

/* In 3.0 a Fiber. */
JUDGE(fiber_resuming)
{
	uint64_t value, fiber;
	if (!layout_of(s)->traits.resuming_object)
		return a_fiber(s, base, field);
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return told(rcore_is_nil(s->ruby, value) ||
		    (is_object(s, value, TYPE(DATA)) &&
		     get(s, value, &layout_of(s)->data.data, &fiber) && is_fiber(s, fiber)));
}

JUDGE(ec_stack)
{
	return holds_frames(s, base, field, &layout_of(s)->ec.vm_stack_size,
			    &layout_of(s)->ec.cfp);
}

JUDGE(ec_stack_size)
{
	return holds_frames(s, base, &layout_of(s)->ec.vm_stack, field, &layout_of(s)->ec.cfp);
}

JUDGE(ec_cfp)
{
	return holds_frames(s, base, &layout_of(s)->ec.vm_stack,
			    &layout_of(s)->ec.vm_stack_size, field);
}

/* The handler of an exception lies on the machine stack. */
JUDGE(ec_tag)
{
	uint64_t tag;
	if (!get(s, base, field, &tag))
		return RCORE_FAILS;
	return tag ? on_machine_stack(s, base, tag) : RCORE_SILENT;
}

JUDGE(ec_fiber)
{
	uint64_t fiber;
	if (!get(s, base, field, &fiber))
		return RCORE_FAILS;
	return fiber ? told(member(fiber, &layout_of(s)->fiber.saved_ec) == base)
		     : RCORE_SILENT;
}

JUDGE(ec_thread)
{
	uint64_t thread;
	return told(get(s, base, field, &thread) && is_thread(s, thread));
}

/* nil, an exception, or what a throw carries. */
JUDGE(ec_errinfo)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return told(
		rcore_is_nil(s->ruby, value) || value & 1 ||
		is_object(s, value, TYPE(OBJECT) | TYPE(DATA) | TYPE(STRUCT) | TYPE(IMEMO)));
}

/*
 * Whether an EC may have no bounds of its machine stack. A thread gets them once it runs
 * (native_thread_init_stack()): until then it has no VM stack either, or, from 3.3 on, one with the dummy frame
 * alone (native_thread_create_dedicated()). In a forked process the other threads, which are killed,
 * have lost both (thread_cleanup_func_before_exec()).
 */
static bool has_no_stack(const struct rcore_samples *s, uint64_t ec)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t stack, size, cfp, thread;
	if (!get(s, ec, &layout->ec.vm_stack, &stack) ||
	    !get(s, ec, &layout->ec.vm_stack_size, &size) || !get(s, ec, &layout->ec.cfp, &cfp))
		return false;
	return !stack || stack + size * sizeof(uint64_t) - cfp <= layout->cfp.size ||
	       (get(s, ec, &layout->ec.thread_ptr, &thread) &&
		leads(s, thread, &layout->thread.status, RCORE_THREAD_KILLED));
}

/* Its tags lie below it. */
JUDGE(ec_stack_start)
{
	uint64_t start, tag, size;
	if (!get(s, base, field, &start) || start % sizeof(uint64_t))
		return RCORE_FAILS;
	if (!start)
		return has_no_stack(s, base) ? RCORE_SILENT : RCORE_FAILS;
	if (!get(s, base, &layout_of(s)->ec.tag, &tag) || !tag ||
	    !get(s, base, &layout_of(s)->ec.machine_stack_maxsize, &size))
		return RCORE_SILENT;
	return told(tag < start && start - tag <= size);
}

JUDGE(ec_stack_end)
{
	uint64_t end;
	if (!get(s, base, field, &end))
		return RCORE_FAILS;
	return end ? on_machine_stack(s, base, end) : RCORE_SILENT;
}

JUDGE(ec_stack_maxsize)
{
	enum { LEAST = 4096, WORD = 8 };
	uint64_t size;
	if (!get(s, base, field, &size))
		return RCORE_FAILS;
	if (!size && has_no_stack(s, base))
		return RCORE_SILENT;
	return told(size >= LEAST && size % WORD == 0 && size < UINT64_C(1) << 47);
}

/* Fiber[]: nil until it is used. */
JUDGE(ec_storage)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return told(rcore_is_nil(s->ruby, value) || is_object(s, value, TYPE(HASH)));
}

JUDGE(ec_local_storage)
{
	uint64_t table, count, capacity;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, field, &table))
		return RCORE_FAILS;
	return table ? told(get(s, table, &layout->id_table.count, &count) &&
			    get(s, table, &layout->id_table.capacity, &capacity) &&
			    count <= capacity)
		     : RCORE_SILENT;
}

/* enum context_type: a continuation or a fiber. */
JUDGE(fiber_type)
{
	return told(leads(s, base, field, 1));
}

JUDGE(fiber_saved_ec)
{
	return told(leads(s, member(base, field), &layout_of(s)->ec.fiber_ptr, base));
}

JUDGE(fiber_jit_cont)
{
	uint64_t node;
	if (!layout_of(s)->traits.fibers_listed)
		return RCORE_SILENT;
	return told(get(s, base, field, &node) &&
		    leads(s, node, &layout_of(s)->jit_cont.ec,
			  member(base, &layout_of(s)->fiber.saved_ec)));
}

/* Samples are what threads run now. */
JUDGE(fiber_status)
{
	return told(rcore_fiber_can_run(s->ruby, base, field));
}

/* Where it was switched away from, once it was. */
JUDGE(fiber_stack_pointer)
{
	uint64_t sp;
	if (!get(s, base, field, &sp))
		return RCORE_FAILS;
	return sp ? on_machine_stack(s, member(base, &layout_of(s)->fiber.saved_ec), sp)
		  : RCORE_SILENT;
}

/* Fibers but for the root ones have a machine stack of their own. */
static enum rcore_verdict fiber_stack(const struct rcore_samples *s, uint64_t fiber,
				      const struct rcore_field *base_field,
				      const struct rcore_field *size_field)
{
	uint64_t base, size, start;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, fiber, base_field, &base))
		return RCORE_FAILS;
	if (!base)
		return RCORE_SILENT;
	/* fiber_prepare_stack() fills it in, from the fiber's stack to the bounds in its EC. */
	if (leads(s, fiber, &layout->fiber.status, RCORE_FIBER_CREATED))
		return RCORE_SILENT;
	if (!get(s, fiber, size_field, &size) || !get(s, member(fiber, &layout->fiber.saved_ec),
						      &layout->ec.machine_stack_start, &start))
		return RCORE_FAILS;
	return is_stack_start(s, start) ? told(start > base && start - base <= size)
					: RCORE_SILENT;
}

JUDGE(fiber_stack_base)
{
	struct rcore_field size = layout_of(s)->fiber.stack_size;
	size.offset += field->offset - layout_of(s)->fiber.stack_base.offset;
	return fiber_stack(s, base, field, &size);
}

JUDGE(fiber_stack_size)
{
	struct rcore_field start = layout_of(s)->fiber.stack_base;
	start.offset += field->offset - layout_of(s)->fiber.stack_size.offset;
	return fiber_stack(s, base, &start, field);
}

JUDGE(jit_cont_ec)
{
	uint64_t ec, fiber;
	return told(get(s, base, field, &ec) &&
		    get(s, ec, &layout_of(s)->ec.fiber_ptr, &fiber) && is_fiber(s, fiber));
}

static enum rcore_verdict neighbour(const struct rcore_samples *s, uint64_t base,
				    const struct rcore_field *field,
				    const struct rcore_field *back)
{
	uint64_t other;
	if (!get(s, base, field, &other))
		return RCORE_FAILS;
	return other ? told(leads(s, other, back, base)) : RCORE_SILENT;
}

JUDGE(jit_cont_prev)
{
	return neighbour(s, base, field, &layout_of(s)->jit_cont.next);
}

JUDGE(jit_cont_next)
{
	return neighbour(s, base, field, &layout_of(s)->jit_cont.prev);
}

/* A mutex that is held knows its holder: a thread or its Thread, a fiber, from 4.0 on an EC's number. */
JUDGE(a_held_mutex)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t mutex, holder;
	if (!get(s, base, field, &mutex))
		return RCORE_FAILS;
	if (!mutex)
		return RCORE_SILENT;
	if (rcore_has(&layout->mutex.fiber))
		return told(get(s, mutex, &layout->mutex.fiber, &holder) &&
			    is_fiber(s, holder));
	return told(get(s, mutex, &layout->mutex.thread, &holder) &&
		    (is_thread(s, holder) || is_object(s, holder, TYPE(DATA))));
}

const struct rcore_field_rule rcore_vm_rules[] = {
	RULE(vm, ractor_set, vm_ractor_set),
	RULE(vm, ractor_count, vm_ractor_count),
	RULE(vm, main_ractor, vm_main_ractor),
	RULE(vm, main_thread, a_thread),
	RULE(vm, living_threads, thread_list),
	RULE(vm, living_count, vm_living_count),
	RULE(vm, gvl_owner, a_thread),
	RULE(vm, shape_list, vm_shape_list),
	RULE(vm, objspace, vm_objspace),
	RULE(vm, root_box, a_box),
	RULE(vm, main_box, a_box),
	RULE(ractor, self, own_object),
	RULE(ractor, id, ractor_id),
	RULE(ractor, threads_set, thread_list),
	RULE(ractor, threads_count, ractor_threads_count),
	RULE(ractor, threads_main, ractor_main),
	RULE(ractor, running_ec, ractor_running_ec),
	RULE(ractor, gvl_owner, a_thread),
	RULE(ractor, sched_running, a_thread),
	RULE(ractor, name, a_name),
	RULE(ractor, status, ractor_status),
	RULE(ractor, vmlr_node, ractor_node),
	RULE(thread, node, thread_node),
	RULE(thread, self, own_object),
	RULE(thread, ractor, thread_ractor),
	RULE(thread, vm, thread_vm),
	RULE(thread, ec, thread_ec),
	RULE(thread, nt, thread_nt),
	RULE(thread, thread_id, native_id),
	RULE(thread, tid, native_tid),
	RULE(thread, status, flag_word),
	RULE(thread, to_kill, flag_word),
	RULE(thread, blocking_region_buffer, thread_region),
	RULE(thread, unblock_func, a_function),
	RULE(thread, locking_mutex, wrapped_or_null),
	RULE(thread, keeping_mutexes, a_held_mutex),
	RULE(thread, sched_context, pointer_or_null),
	RULE(thread, invoke_type, thread_invoke_type),
	RULE(thread, root_fiber, a_fiber),
	RULE(thread, name, a_name),
	RULE(native_thread, thread_id, native_id),
	RULE(native_thread, tid, native_tid),
	RULE(native_thread, running_thread, a_thread),
	RULE(ec, vm_stack, ec_stack),
	RULE(ec, vm_stack_size, ec_stack_size),
	RULE(ec, cfp, ec_cfp),
	RULE(ec, tag, ec_tag),
	RULE(ec, interrupt_flag, flag_word),
	RULE(ec, fiber_ptr, ec_fiber),
	RULE(ec, thread_ptr, ec_thread),
	RULE(ec, errinfo, ec_errinfo),
	RULE(ec, local_storage, ec_local_storage),
	RULE(ec, storage, ec_storage),
	RULE(ec, machine_stack_start, ec_stack_start),
	RULE(ec, machine_stack_end, ec_stack_end),
	RULE(ec, machine_stack_maxsize, ec_stack_maxsize),
	RULE(fiber, type, fiber_type),
	RULE(fiber, self, own_object),
	RULE(fiber, saved_ec, fiber_saved_ec),
	RULE(fiber, jit_cont, fiber_jit_cont),
	RULE(fiber, prev, a_fiber),
	RULE(fiber, resuming_fiber, fiber_resuming),
	RULE(fiber, status, fiber_status),
	RULE(fiber, context_stack_pointer, fiber_stack_pointer),
	RULE(fiber, stack_base, fiber_stack_base),
	RULE(fiber, stack_size, fiber_stack_size),
	RULE_ON(parked, fiber, prev, a_fiber),
	RULE_ON(parked, fiber, resuming_fiber, fiber_resuming),
	RULE_ON(parked, fiber, stack_base, fiber_stack_base),
	RULE_ON(parked, fiber, stack_size, fiber_stack_size),
	RULE(mutex, fiber, a_fiber),
	RULE(mutex, next_mutex, a_held_mutex),
	RULE(mutex, waitq, a_list),
	RULE(jit_cont, ec, jit_cont_ec),
	RULE(jit_cont, prev, jit_cont_prev),
	RULE(jit_cont, next, jit_cont_next),
};

const size_t rcore_vm_rules_count = sizeof(rcore_vm_rules) / sizeof(*rcore_vm_rules);
