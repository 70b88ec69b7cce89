/* SPDX-License-Identifier: MIT */
#include "session/decode.h"

#include <elf.h>

#include "image/elf/tls.h"
#include "vm/context.h"

enum { PTHREAD_LIMIT = 64 << 10 }; /* a struct pthread is much smaller */

/*
 * The variable may be in any module: in the gem's extension, or in a program
 * that was built from its source.
 */
bool rcore_session_profiler_state(struct rcore_modules *modules, struct rcore_tls_variable *ret)
{
	size_t count = rcore_modules_count(modules);
	for (size_t i = 0; i < count; i++)
		if (rcore_tls_find(modules, rcore_modules_get(modules, i),
				   "ruby_profiler_state", ret))
			return true;
	return false;
}

bool rcore_session_index_tids(const struct rcore_process *process,
			      struct rcore_address_map *ret)
{
	bool fine = true;
	for (size_t i = 0; i < process->thread_count && fine; i++)
		fine = rcore_address_map_put_first(ret, (uint64_t)process->threads[i].tid,
						   (int)i);
	return fine;
}

bool rcore_session_read_pthread(struct rcore_memory *memory, const struct rcore_layout *layout,
				uint64_t thread, uint64_t *ret)
{
	uint64_t nt;
	if (!rcore_has(&layout->thread.nt))
		return !rcore_read_field(memory, thread, &layout->thread.thread_id, ret);
	return !rcore_read_field(memory, thread, &layout->thread.nt, &nt) &&
	       !rcore_read_field(memory, nt, &layout->native_thread.thread_id, ret);
}

bool rcore_session_pthread(const struct rcore_process *process,
			   const struct rcore_address_map *tids, struct rcore_memory *memory,
			   const struct rcore_layout *layout, const struct rcore_thread *thread,
			   struct rcore_pthread *ret)
{
	int native = thread->tid ? rcore_address_map_get(tids, (uint64_t)thread->tid) : -1;
	ret->pointer = native >= 0 ? process->threads[native].thread_pointer : 0;
	if (thread->is_ended || !ret->pointer ||
	    !rcore_session_read_pthread(memory, layout, thread->address, &ret->pthread))
		return false;
	return process->machine == EM_AARCH64 ? ret->pointer - ret->pthread < PTHREAD_LIMIT
					      : ret->pointer == ret->pthread;
}

/*
 * Reads the pointer that a profiler inside the process would use as this
 * thread's context. Returns false if it is unknown.
 */
static bool read_pointer(struct rcore_ruby *ruby, unsigned machine, uint64_t thread_pointer,
			 const struct rcore_tls_variable *variable, uint64_t *ret)
{
	uint64_t address;
	rcore_auto_error err =
		rcore_tls_address(ruby->memory, machine, thread_pointer, variable, &address);
	*ret = 0;
	return !err && (!address || !rcore_read_u64(ruby->memory, address, ret));
}

struct rcore_error *rcore_session_thread_locals(const struct rcore_target *target,
						const struct rcore_located *located,
						struct rcore_ruby *ruby,
						struct rcore_snapshot *snapshot)
{
	const struct rcore_process *process = target->process;
	struct rcore_tls_variable variable = located->profiler_state;
	struct rcore_address_map tids = {0};
	if (ruby->earlier_fibers ? !located->has_profiler_state
				 : !rcore_session_profiler_state(target->modules, &variable))
		return NULL;
	struct rcore_error *err =
		rcore_session_index_tids(process, &tids) ? NULL : rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->thread_count && !err; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		struct rcore_pthread pthread;
		if (thread->current_fiber < 0 ||
		    !rcore_session_pthread(process, &tids, ruby->memory, ruby->layout, thread,
					   &pthread))
			continue;
		struct rcore_context *context =
			&snapshot->fibers[thread->current_fiber].context;
		context->has_thread_local =
			read_pointer(ruby, process->machine, pthread.pointer, &variable,
				     &context->thread_local_table);
		err = rcore_context_compare(&snapshot->arena, context);
	}
	rcore_address_map_deinit(&tids);
	return err;
}

void rcore_session_keep_thread_locals(const struct rcore_target *target,
				      struct rcore_located *located,
				      const struct rcore_snapshot *snapshot)
{
	const struct rcore_layout *layout = &located->location.layout;
	const struct rcore_tls_variable *variable = &located->profiler_state;
	located->has_profiler_state =
		rcore_session_profiler_state(target->modules, &located->profiler_state);
	/* On aarch64, only a register has the thread pointer. */
	if (target->process->machine != EM_X86_64 || !located->has_profiler_state)
		return;
	struct rcore_ruby ruby = {.memory = target->memory, .layout = layout};
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		uint64_t pthread, ignored;
		if (rcore_session_read_pthread(target->memory, layout,
					       snapshot->threads[i].address, &pthread))
			read_pointer(&ruby, EM_X86_64, pthread, variable, &ignored);
	}
}
