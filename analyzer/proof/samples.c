/* SPDX-License-Identifier: MIT */
#include "proof/samples.h"

#include <stdlib.h>

#include "ruby/object/data.h"
#include "ruby/iseq/method.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/find/list.h"
#include "vm/vm.h"

void rcore_samples_add(struct rcore_sample_list *list, uint64_t address)
{
	if (!address || address % sizeof(uint64_t))
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i] == address)
			return;
	if (list->count < RCORE_SAMPLES)
		list->at[list->count++] = address;
}

uint64_t rcore_samples_follow(struct rcore_samples *samples, uint64_t base,
			      const struct rcore_field *field, struct rcore_sample_list *list)
{
	uint64_t address;
	if (!rcore_sample_read(samples, base, field, &address))
		return 0;
	rcore_samples_add(list, address);
	return address;
}

enum { THREADS = 32 };

/* Adds the threads of the list at `head` that point back to the VM. */
static void take_threads(struct rcore_samples *samples, uint64_t vm, uint64_t head)
{
	const struct rcore_layout *layout = samples->ruby->layout;
	uint64_t *nodes, back;
	size_t count;
	rcore_auto_error err =
		rcore_list(samples->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &count);
	rcore_sample_failed(samples, err);
	for (size_t i = 0; i < count && i < THREADS; i++) {
		uint64_t thread = nodes[i] - (uint64_t)layout->thread.node.offset;
		if (rcore_sample_read(samples, thread, &layout->thread.vm, &back) && back == vm)
			rcore_samples_add(&samples->thread, thread);
	}
	free(nodes);
}

static void take_method(struct rcore_samples *samples, uint64_t ep)
{
	uint64_t method;
	rcore_auto_error err = rcore_frame_method_entry(samples->ruby, ep, &method);
	if (rcore_sample_failed(samples, err) || !method)
		return;
	rcore_samples_add(&samples->cme, method);
	rcore_samples_follow(samples, method, &samples->ruby->layout->cme.def,
			     &samples->method_def);
}

/* Adds the innermost Ruby frames that have begun. */
static void take_frames(struct rcore_samples *samples, uint64_t ec)
{
	enum { FRAMES = 8 };
	const struct rcore_layout *layout = samples->ruby->layout;
	uint64_t cfp, stack, size;
	if (!rcore_sample_read(samples, ec, &layout->ec.cfp, &cfp) ||
	    !rcore_sample_read(samples, ec, &layout->ec.vm_stack, &stack) ||
	    !rcore_sample_read(samples, ec, &layout->ec.vm_stack_size, &size))
		return;
	uint64_t end = stack + size * sizeof(uint64_t);
	for (int i = 0; i < FRAMES && cfp < end; i++, cfp += layout->cfp.size) {
		uint64_t iseq, pc, ep, flags;
		if (!rcore_sample_read(samples, cfp, &layout->cfp.iseq, &iseq) ||
		    !rcore_sample_read(samples, cfp, &layout->cfp.pc, &pc) ||
		    !rcore_sample_read(samples, cfp, &layout->cfp.ep, &ep) ||
		    rcore_read_u64(samples->ruby->memory, ep, &flags) ||
		    (flags & RCORE_FRAME_MAGIC_MASK) == RCORE_FRAME_MAGIC_DUMMY)
			continue;
		take_method(samples, ep);
		/*
		 * The very innermost may be half pushed, or its pc not written
		 * by compiled code yet.
		 */
		if (!i || !iseq || !pc || (flags & RCORE_FRAME_CFRAME))
			continue;
		rcore_samples_add(&samples->cfp, cfp);
		rcore_samples_add(&samples->iseq, iseq);
		rcore_samples_follow(samples, iseq, &layout->iseq.body, &samples->iseq_body);
	}
}

/*
 * Adds the Mutex that a thread waits for, and the last of those that it holds.
 */
static void take_mutexes(struct rcore_samples *samples, uint64_t thread)
{
	const struct rcore_layout *layout = samples->ruby->layout;
	uint64_t object, mutex;
	bool is_mutex = false;
	rcore_samples_follow(samples, thread, &layout->thread.keeping_mutexes, &samples->mutex);
	if (!rcore_sample_read(samples, thread, &layout->thread.locking_mutex, &object) ||
	    !object)
		return;
	rcore_auto_error err = rcore_data_is(samples->ruby, object, "mutex", &is_mutex, &mutex);
	if (!rcore_sample_failed(samples, err) && is_mutex)
		rcore_samples_add(&samples->mutex, mutex);
}

static void take_thread(struct rcore_samples *samples, uint64_t thread)
{
	const struct rcore_layout *layout = samples->ruby->layout;
	rcore_samples_follow(samples, thread, &layout->thread.ractor, &samples->ractor);
	rcore_samples_follow(samples, thread, &layout->thread.nt, &samples->native_thread);
	uint64_t ec = rcore_samples_follow(samples, thread, &layout->thread.ec, &samples->ec);
	uint64_t fiber =
		rcore_samples_follow(samples, ec, &layout->ec.fiber_ptr, &samples->fiber);
	if (layout->traits.fibers_listed)
		rcore_samples_follow(samples, fiber, &layout->fiber.jit_cont,
				     &samples->jit_cont);
	uint64_t object =
		rcore_samples_follow(samples, thread, &layout->thread.self, &samples->data);
	rcore_samples_follow(samples, object, &layout->data.type, &samples->data_type);
	take_mutexes(samples, thread);
	take_frames(samples, ec);
}

void rcore_samples_take(struct rcore_ruby *ruby, const struct rcore_process *process,
			uint64_t vm, struct rcore_samples *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	*ret = (struct rcore_samples){.ruby = ruby, .process = process};

	rcore_samples_add(&ret->vm, vm);
	rcore_samples_add(&ret->symbols, ruby->global_symbols);
	rcore_samples_follow(ret, vm, &layout->vm.objspace, &ret->objspace);
	rcore_samples_follow(ret, vm, &layout->vm.root_box, &ret->box);
	rcore_samples_follow(ret, vm, &layout->vm.main_box, &ret->box);
	uint64_t main_thread =
		rcore_samples_follow(ret, vm, &layout->vm.main_thread, &ret->thread);
	if (rcore_has(&layout->vm.living_threads))
		take_threads(ret, vm, vm + (uint64_t)layout->vm.living_threads.offset);
	uint64_t ractor =
		rcore_samples_follow(ret, main_thread, &layout->thread.ractor, &ret->ractor);
	if (ractor && rcore_has(&layout->ractor.threads_set))
		take_threads(ret, vm, ractor + (uint64_t)layout->ractor.threads_set.offset);
	for (size_t i = 0; i < ret->thread.count; i++)
		take_thread(ret, ret->thread.at[i]);
}
