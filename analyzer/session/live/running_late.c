/* SPDX-License-Identifier: MIT */
#include "session/live/running.h"

#include "base/text.h"
#include "vm/problem.h"

static bool is_late(struct rcore_live *live, uint64_t start, uint64_t size)
{
	return start && rcore_live_is_late(live, start, start + size);
}

/*
 * A thread's own stack reaches from its stack pointer to the end of the
 * mapping. Only the pages that unwinding needs were read.
 */
static bool has_late_stack(const struct rcore_session *session, const struct rcore_fiber *fiber)
{
	struct rcore_live *live = session->target.live;
	const struct rcore_process *process = session->target.process;
	for (size_t i = 0; fiber->tid && i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		uint64_t sp = thread->registers[rcore_register_sp(process->machine)];
		if (thread->tid == fiber->tid && thread->has_registers &&
		    rcore_live_is_late(live, sp,
				       rcore_live_stack_end(live, sp, thread->thread_pointer)))
			return true;
	}
	return is_late(live, fiber->machine_stack, fiber->machine_stack_size) ||
	       is_late(live, fiber->vm_stack, fiber->vm_stack_size);
}

void rcore_running_mark_late(const struct rcore_session *session,
			     struct rcore_snapshot *snapshot)
{
	struct rcore_live *live = session->target.live;
	const struct rcore_layout *layout = &session->located.location.layout;
	size_t count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		fiber->is_late = is_late(live, fiber->address, layout->fiber.size) ||
				 has_late_stack(session, fiber);
	}
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		struct rcore_thread *thread = &snapshot->threads[i];
		/* The last look was not at the time of the stop. */
		thread->gvl_held_ns = 0;
		if (thread->current_fiber >= 0 &&
		    is_late(live, thread->address, layout->thread.size))
			snapshot->fibers[thread->current_fiber].is_late = true;
	}
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		count += snapshot->fibers[i].is_late;
	rcore_problem_add(snapshot,
			  rcore_error_create(
				  RCORE_ERROR_LIMIT,
				  "the process was resumed after %zu ms (--max-pause), and the "
				  "rest was read afterwards: objects, and %zu of %zu fiber%s "
				  "(marked)",
				  session->settings.max_pause_ms, count, snapshot->fiber_count,
				  rcore_plural(snapshot->fiber_count)));
}

struct rcore_error *rcore_running_in_time(const struct rcore_session *session,
					  const struct rcore_live_pause *pause)
{
	size_t most = session->settings.max_pause_ms;
	if (!pause->overdue)
		return NULL;
	return rcore_error_create(RCORE_ERROR_LIMIT,
				  "the process was resumed after %zu ms, before everything was "
				  "read; %s",
				  most ? most : RCORE_STOP_LIMIT_MS,
				  most ? "raise --max-pause, or use --no-stop"
				       : "write a core with gcore and analyze that");
}
