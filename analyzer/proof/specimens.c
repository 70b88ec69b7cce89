/* SPDX-License-Identifier: MIT */
#include "proof/specimens.h"

#include <stdlib.h>

#include "ruby/data.h"
#include "ruby/method.h"
#include "vm/frame_flags.h"
#include "vm/list.h"
#include "vm/vm.h"

void rcore_specimens_add(struct rcore_specimen_list *list, uint64_t address)
{
	if (!address || address % sizeof(uint64_t))
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i] == address)
			return;
	if (list->count < RCORE_SPECIMENS)
		list->at[list->count++] = address;
}

/* The struct that a pointer of another leads to. */
static uint64_t follow(struct rcore_specimens *specimens, uint64_t base,
		       const struct rcore_field *field, struct rcore_specimen_list *list)
{
	uint64_t address;
	if (!rcore_specimen_read(specimens, base, field, &address))
		return 0;
	rcore_specimens_add(list, address);
	return address;
}

enum { THREADS = 32 };

/* Threads of the list at `head` that lead back to the VM. */
static void take_threads(struct rcore_specimens *specimens, uint64_t vm, uint64_t head)
{
	const struct rcore_layout *layout = specimens->ruby->layout;
	uint64_t *nodes, back;
	size_t count;
	rcore_auto_error err =
		rcore_list(specimens->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &count);
	for (size_t i = 0; i < count && i < THREADS; i++) {
		uint64_t thread = nodes[i] - (uint64_t)layout->thread.node.offset;
		if (rcore_specimen_read(specimens, thread, &layout->thread.vm, &back) &&
		    back == vm)
			rcore_specimens_add(&specimens->thread, thread);
	}
	free(nodes);
}

static void take_method(struct rcore_specimens *specimens, uint64_t ep)
{
	uint64_t method;
	rcore_auto_error err = rcore_frame_method_entry(specimens->ruby, ep, &method);
	if (err || !method)
		return;
	rcore_specimens_add(&specimens->cme, method);
	follow(specimens, method, &specimens->ruby->layout->cme.def, &specimens->method_def);
}

/* The innermost frames of Ruby code, that have been entered. */
static void take_frames(struct rcore_specimens *specimens, uint64_t ec)
{
	enum { FRAMES = 8 };
	const struct rcore_layout *layout = specimens->ruby->layout;
	uint64_t cfp, stack, size;
	if (!rcore_specimen_read(specimens, ec, &layout->ec.cfp, &cfp) ||
	    !rcore_specimen_read(specimens, ec, &layout->ec.vm_stack, &stack) ||
	    !rcore_specimen_read(specimens, ec, &layout->ec.vm_stack_size, &size))
		return;
	uint64_t end = stack + size * sizeof(uint64_t);
	for (int i = 0; i < FRAMES && cfp < end; i++, cfp += layout->cfp.size) {
		uint64_t iseq, pc, ep, flags;
		if (!rcore_specimen_read(specimens, cfp, &layout->cfp.iseq, &iseq) ||
		    !rcore_specimen_read(specimens, cfp, &layout->cfp.pc, &pc) ||
		    !rcore_specimen_read(specimens, cfp, &layout->cfp.ep, &ep) ||
		    rcore_read_u64(specimens->ruby->memory, ep, &flags) ||
		    (flags & RCORE_FRAME_MAGIC_MASK) == RCORE_FRAME_MAGIC_DUMMY)
			continue;
		take_method(specimens, ep);
		/* The very innermost may be half pushed, or compiled code has not written its pc yet. */
		if (!i || !iseq || !pc || (flags & RCORE_FRAME_CFRAME))
			continue;
		rcore_specimens_add(&specimens->cfp, cfp);
		rcore_specimens_add(&specimens->iseq, iseq);
		follow(specimens, iseq, &layout->iseq.body, &specimens->iseq_body);
	}
}

/* The Mutex that a thread waits for, and the last of those that it holds. */
static void take_mutexes(struct rcore_specimens *specimens, uint64_t thread)
{
	const struct rcore_layout *layout = specimens->ruby->layout;
	uint64_t object, mutex;
	bool is_mutex = false;
	follow(specimens, thread, &layout->thread.keeping_mutexes, &specimens->mutex);
	if (!rcore_specimen_read(specimens, thread, &layout->thread.locking_mutex, &object) ||
	    !object)
		return;
	rcore_auto_error err =
		rcore_data_is(specimens->ruby, object, "mutex", &is_mutex, &mutex);
	if (!err && is_mutex)
		rcore_specimens_add(&specimens->mutex, mutex);
}

static void take_thread(struct rcore_specimens *specimens, uint64_t thread)
{
	const struct rcore_layout *layout = specimens->ruby->layout;
	follow(specimens, thread, &layout->thread.ractor, &specimens->ractor);
	follow(specimens, thread, &layout->thread.nt, &specimens->native_thread);
	uint64_t ec = follow(specimens, thread, &layout->thread.ec, &specimens->ec);
	uint64_t fiber = follow(specimens, ec, &layout->ec.fiber_ptr, &specimens->fiber);
	if (layout->traits.fibers_listed)
		follow(specimens, fiber, &layout->fiber.jit_cont, &specimens->jit_cont);
	uint64_t object = follow(specimens, thread, &layout->thread.self, &specimens->data);
	follow(specimens, object, &layout->data.type, &specimens->data_type);
	take_mutexes(specimens, thread);
	take_frames(specimens, ec);
}

void rcore_specimens_take(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_specimens *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	*ret = (struct rcore_specimens){.ruby = ruby, .process = process};

	rcore_specimens_add(&ret->vm, vm);
	rcore_specimens_add(&ret->symbols, ruby->global_symbols);
	follow(ret, vm, &layout->vm.objspace, &ret->objspace);
	follow(ret, vm, &layout->vm.root_box, &ret->box);
	follow(ret, vm, &layout->vm.main_box, &ret->box);
	uint64_t main_thread = follow(ret, vm, &layout->vm.main_thread, &ret->thread);
	if (rcore_has(&layout->vm.living_threads))
		take_threads(ret, vm, vm + (uint64_t)layout->vm.living_threads.offset);
	uint64_t ractor = follow(ret, main_thread, &layout->thread.ractor, &ret->ractor);
	if (ractor && rcore_has(&layout->ractor.threads_set))
		take_threads(ret, vm, ractor + (uint64_t)layout->ractor.threads_set.offset);
	for (size_t i = 0; i < ret->thread.count; i++)
		take_thread(ret, ret->thread.at[i]);
}
