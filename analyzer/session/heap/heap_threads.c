/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rcore.h"
#include "ruby/iseq/iseq_locals.h"
#include "ruby/object/data.h"
#include "vm/load.h"
#include "vm/stack/frame_values.h"

/* More frames are only counted. */
enum { LISTED = 8 };

/* Sets threads->snapshot. If it stays NULL, nothing has a name. */
static void load(struct rcore_heap_threads *threads)
{
	if (threads->is_loaded)
		return;
	threads->is_loaded = true;
	struct rcore_snapshot *snapshot = threads->vm ? calloc(1, sizeof(*snapshot)) : NULL;
	if (!snapshot)
		return;
	snapshot->ids = threads->ids;
	struct rcore_error *err =
		rcore_vm_load(threads->ruby, threads->vm, threads->process, snapshot);
	if (err)
		rcore_snapshot_free(snapshot);
	else
		threads->snapshot = snapshot;
	rcore_error_free(err);
}

void rcore_heap_threads_deinit(struct rcore_heap_threads *threads)
{
	rcore_snapshot_free(threads->snapshot);
	memset(threads, 0, sizeof(*threads));
}

static bool is_data(struct rcore_ruby *ruby, uint64_t object, const char *type)
{
	bool is_data = false;
	rcore_error_free(rcore_data_is(ruby, object, type, &is_data, NULL));
	return is_data;
}

bool rcore_heap_is_thread(struct rcore_ruby *ruby, uint64_t object)
{
	return is_data(ruby, object, "VM/thread") || is_data(ruby, object, "fiber");
}

bool rcore_heap_has_threads(struct rcore_ruby *ruby, uint64_t object)
{
	return is_data(ruby, object, "VM/thread") || is_data(ruby, object, "ractor");
}

const char *rcore_heap_thread_id(struct rcore_heap_threads *threads, uint64_t object,
				 const char **ret_name)
{
	load(threads);
	const struct rcore_snapshot *snapshot = threads->snapshot;
	*ret_name = NULL;
	for (size_t i = 0; snapshot && i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->object != object)
			continue;
		*ret_name = thread->name;
		return thread->id;
	}
	for (size_t i = 0; snapshot && i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (fiber->object != object)
			continue;
		if (fiber->thread >= 0)
			*ret_name = snapshot->threads[fiber->thread].name;
		return fiber->id;
	}
	return NULL;
}

/* Whether a local variable of the frame has this name and this value. */
static bool has_local(struct rcore_ruby *ruby, const struct rcore_frame *frame,
		      const char *name, uint64_t value)
{
	uint64_t address, actual;
	struct rcore_error *err = rcore_frame_local_address(ruby, frame, name, &address);
	bool is_equal = !err && address && !rcore_read_u64(ruby->memory, address, &actual) &&
			actual == value;
	rcore_error_free(err);
	return is_equal;
}

/* Finds the frames whose local variable has the value; lists the first ones. */
static size_t find_frames(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
			  const char *name, uint64_t value, size_t found[LISTED])
{
	size_t count = 0;
	for (size_t i = 0; i < fiber->frame_count; i++) {
		if (!has_local(ruby, &fiber->frames[i], name, value))
			continue;
		if (count < LISTED)
			found[count] = i;
		count++;
	}
	return count;
}

static void write_frames(const char *fiber, const size_t *found, size_t count,
			 char ret[RCORE_HEAP_FRAMES_SIZE])
{
	const size_t size = RCORE_HEAP_FRAMES_SIZE, listed = count < LISTED ? count : LISTED;
	snprintf(ret, size, "%s frame%s", fiber, rcore_plural(count));
	for (size_t i = 0; i < listed; i++) {
		const size_t used = strlen(ret);
		const char *before = !i ? " " : i + 1 == count ? " and " : ", ";
		snprintf(ret + used, size - used, "%s%zu", before, found[i]);
	}
	if (listed < count)
		snprintf(ret + strlen(ret), size - strlen(ret), " and %zu more",
			 count - listed);
}

void rcore_heap_thread_frames(struct rcore_heap_threads *threads, uint64_t object,
			      const char *name, uint64_t value,
			      char ret[RCORE_HEAP_FRAMES_SIZE])
{
	size_t found[LISTED];
	load(threads);
	const struct rcore_snapshot *snapshot = threads->snapshot;
	ret[0] = 0;
	for (size_t i = 0; snapshot && i < snapshot->fiber_count && !ret[0]; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		bool is_of_thread = fiber->thread >= 0 && fiber->is_current &&
				    snapshot->threads[fiber->thread].object == object;
		if (fiber->object != object && !is_of_thread)
			continue;
		size_t count = find_frames(threads->ruby, fiber, name, value, found);
		if (count)
			write_frames(fiber->id, found, count, ret);
	}
}

/* Returns the kernel thread whose stack contains the address; 0: none does. */
static int tid_of(const struct rcore_process *process, uint64_t address)
{
	uint64_t nearest = 0;
	int tid = 0;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (!thread->has_registers)
			continue;
		uint64_t sp = thread->registers[rcore_register_sp(process->machine)];
		if (sp <= address && sp >= nearest) {
			nearest = sp;
			tid = thread->tid;
		}
	}
	return tid;
}

const struct rcore_thread *rcore_heap_thread_of_stack(struct rcore_heap_threads *threads,
						      uint64_t address)
{
	enum { PAGE = 4096 };
	load(threads);
	const struct rcore_snapshot *snapshot = threads->snapshot;
	/* A stack may have millions of words. No page belongs to two stacks. */
	if (address && address / PAGE == threads->last_page)
		return threads->last_thread;
	threads->last_page = address / PAGE;
	threads->last_thread = NULL;
	const int tid = snapshot && address ? tid_of(threads->process, address) : 0;
	for (size_t i = 0; tid && i < snapshot->thread_count && !threads->last_thread; i++)
		if (snapshot->threads[i].tid == tid)
			threads->last_thread = &snapshot->threads[i];
	return threads->last_thread;
}
