/* SPDX-License-Identifier: MIT */
#include "vm/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "target/core/core.h"
#include "target/live/live.h"
#include "vm/find/collected.h"
#include "vm/context.h"
#include "vm/loader.h"
#include "vm/problem.h"
#include "vm/wait/wait.h"

/* Moves a vector of the loader into the arena. */
static struct rcore_error *keep(struct rcore_arena *arena, const void *items, size_t count,
				size_t size, void *ret, size_t *ret_count)
{
	void *copy = rcore_arena_array(arena, count, size);
	if (!copy)
		return rcore_error_no_memory();
	if (count)
		memcpy(copy, items, count * size);
	*(void **)ret = copy;
	*ret_count = count;
	return NULL;
}

/* Loads the kernel threads that run no Ruby thread. */
static struct rcore_error *load_others(struct rcore_loader *loader)
{
	const struct rcore_process *process = loader->process;
	struct rcore_snapshot *snapshot = loader->snapshot;
	snapshot->others = rcore_arena_alloc(
		&snapshot->arena, (process->thread_count + 1) * sizeof(*snapshot->others));
	if (!snapshot->others)
		return rcore_error_no_memory();
	struct rcore_address_map ruby = {0};
	bool fine = true;
	for (size_t i = 0; i < loader->threads.count && fine; i++)
		fine = rcore_address_map_put_first(
			&ruby, (uint64_t)loader->threads.items[i].tid, (int)i);
	for (size_t i = 0; i < process->thread_count && fine; i++) {
		int tid = process->threads[i].tid;
		if (rcore_address_map_get(&ruby, (uint64_t)tid) < 0)
			snapshot->others[snapshot->other_count++].tid = tid;
	}
	rcore_address_map_deinit(&ruby);
	return fine ? NULL : rcore_error_no_memory();
}

static struct rcore_error *load_context(struct rcore_loader *loader, struct rcore_fiber *fiber)
{
	struct rcore_context *context = &fiber->context;
	if (!fiber->object)
		return NULL;
	struct rcore_error *err = rcore_context_load(loader->ruby, fiber->object, context);
	bool whole = !context->problem;
	for (size_t i = 0; i < context->pair_count && !err; i++)
		whole = whole && !context->pairs[i].variable.problem &&
			!context->pairs[i].variable.value.problem;
	if (!whole)
		loader->snapshot->incomplete = true;
	return err;
}

static bool is_left_out(const struct rcore_loader *loader, const struct rcore_fiber *fiber)
{
	return rcore_unchanged_fiber(loader->ruby, fiber->address) >= 0;
}

static void will_read(const struct rcore_ruby *ruby, uint64_t start, uint64_t end)
{
	rcore_core_keep(ruby->core, start, end);
	if (ruby->live)
		rcore_live_keep(ruby->live, start, end);
}

/*
 * Reads the VM stacks of all fibers together. This takes a few system calls for
 * a running process, and a few sweeps over the disk for a core. The control
 * frames are at the end of a stack, from ec->cfp on; the environments are at
 * its start.
 */
static void read_stacks(struct rcore_loader *loader)
{
	/* In bytes; the rest of a deep stack is read when it is decoded. */
	enum { MOST = 16 << 10, FIRST = 512 };
	struct rcore_core *core = loader->ruby->core;
	struct rcore_live *live = loader->ruby->live;
	if (!live && !rcore_core_is_read_ahead(core))
		return;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[i];
		uint64_t start = fiber->vm_stack, end = start + fiber->vm_stack_size, cfp;
		if (is_left_out(loader, fiber) ||
		    rcore_read_field(loader->ruby->memory, fiber->ec,
				     &loader->ruby->layout->ec.cfp, &cfp) ||
		    cfp < start || cfp >= end)
			continue;
		will_read(loader->ruby, cfp, end - cfp > MOST ? cfp + MOST : end);
		will_read(loader->ruby, start, start + FIRST);
	}
	rcore_core_fetch(core);
	if (live)
		rcore_live_fetch(live);
}

static struct rcore_error *keep_all(struct rcore_loader *loader)
{
	struct rcore_snapshot *snapshot = loader->snapshot;
	struct rcore_error *err = keep(&snapshot->arena, loader->ractors.items,
				       loader->ractors.count, sizeof(*loader->ractors.items),
				       &snapshot->ractors, &snapshot->ractor_count);
	if (!err)
		err = keep(&snapshot->arena, loader->threads.items, loader->threads.count,
			   sizeof(*loader->threads.items), &snapshot->threads,
			   &snapshot->thread_count);
	if (!err)
		err = keep(&snapshot->arena, loader->fibers.items, loader->fibers.count,
			   sizeof(*loader->fibers.items), &snapshot->fibers,
			   &snapshot->fiber_count);
	return err;
}

struct rcore_error *rcore_vm_load(struct rcore_ruby *ruby, uint64_t vm,
				  const struct rcore_process *process,
				  struct rcore_snapshot *snapshot)
{
	struct rcore_loader loader = {
		.ruby = ruby, .snapshot = snapshot, .process = process, .vm = vm};

	struct rcore_error *err = rcore_load_threads(&loader);
	bool was_incomplete = snapshot->incomplete;
	if (!err)
		err = rcore_find_fibers(&loader);
	if (!err)
		read_stacks(&loader);
	for (size_t i = 0; i < loader.fibers.count && !err; i++)
		if (!is_left_out(&loader, &loader.fibers.items[i]))
			err = rcore_load_frames(&loader, &loader.fibers.items[i]);
	if (!err)
		err = rcore_drop_collected(&loader, was_incomplete);
	if (!err)
		err = rcore_assign_fibers(&loader);
	for (size_t i = 0; i < loader.fibers.count && !err; i++)
		if (!is_left_out(&loader, &loader.fibers.items[i]))
			err = load_context(&loader, &loader.fibers.items[i]);
	if (!err)
		err = rcore_load_waits(&loader);
	if (!err)
		err = load_others(&loader);
	if (!err)
		err = keep_all(&loader);
	free(loader.ractors.items);
	free(loader.threads.items);
	free(loader.fibers.items);
	rcore_address_map_deinit(&loader.thread_at);
	rcore_address_map_deinit(&loader.fiber_at);
	return err;
}
