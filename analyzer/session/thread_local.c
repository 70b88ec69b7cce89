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
static bool find_variable(const struct rcore_target *target, struct rcore_tls_variable *ret)
{
	size_t count = rcore_modules_count(target->modules);
	for (size_t i = 0; i < count; i++)
		if (rcore_tls_find(target->modules, rcore_modules_get(target->modules, i),
				   "ruby_profiler_state", ret))
			return true;
	return false;
}

/*
 * The VM has the pthread_t of each of its threads. On x86-64, that is the
 * thread pointer. On aarch64, the thread pointer is the end of the struct
 * pthread.
 */
static bool is_thread(struct rcore_ruby *ruby, const struct rcore_thread *thread,
		      unsigned machine, uint64_t thread_pointer)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t nt, pthread;
	enum rcore_fault fault;
	if (rcore_has(&layout->thread.nt))
		fault = rcore_read_field(ruby->memory, thread->address, &layout->thread.nt, &nt)
				? RCORE_FAULT_UNMAPPED
				: rcore_read_field(ruby->memory, nt,
						   &layout->native_thread.thread_id, &pthread);
	else
		fault = rcore_read_field(ruby->memory, thread->address,
					 &layout->thread.thread_id, &pthread);
	if (fault)
		return false;
	return machine == EM_AARCH64 ? thread_pointer - pthread < PTHREAD_LIMIT
				     : thread_pointer == pthread;
}

static uint64_t thread_pointer_of(const struct rcore_process *process, int tid)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return process->threads[i].thread_pointer;
	return 0;
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
						struct rcore_ruby *ruby,
						struct rcore_snapshot *snapshot)
{
	const struct rcore_process *process = target->process;
	struct rcore_tls_variable variable;
	struct rcore_error *err = NULL;
	if (!find_variable(target, &variable))
		return NULL;
	for (size_t i = 0; i < snapshot->thread_count && !err; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		uint64_t thread_pointer = thread_pointer_of(process, thread->tid);
		if (thread->is_ended || !thread->tid || !thread_pointer ||
		    thread->current_fiber < 0 ||
		    !is_thread(ruby, thread, process->machine, thread_pointer))
			continue;
		struct rcore_context *context =
			&snapshot->fibers[thread->current_fiber].context;
		context->has_thread_local =
			read_pointer(ruby, process->machine, thread_pointer, &variable,
				     &context->thread_local_table);
		err = rcore_context_compare(&snapshot->arena, context);
	}
	return err;
}
