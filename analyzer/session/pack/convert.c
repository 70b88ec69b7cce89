/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "session/inputs.h"
#include "session/session.h"
#include "session/stacks.h"
#include "target/core/core_copy.h"

/*
 * No kernel thread has an id above 4,194,304 (PID_MAX_LIMIT), so these are
 * free.
 */
enum { FIRST_FREE = 5000000, THREAD_STEP = 10000000, MAX_THREAD = INT32_MAX / THREAD_STEP - 1 };

/* Registers are numbered by their place in elf_gregset_t. */
static const struct machine {
	unsigned number;
	/*
	 * registers that coroutine_transfer() does not change: segments, flags
	 */
	uint64_t of_thread;
	/* the register that is -1 outside a system call; -1 if there is none */
	int system_call;
} machines[] = {
	{EM_X86_64, UINT64_C(0x7f60000), 15}, /* cs, eflags, ss to gs */
	{EM_AARCH64, UINT64_C(1) << 33, -1},  /* pstate */
};

bool rcore_fiber_registers(struct rcore_session *session, const struct rcore_fiber *fiber,
			   uint64_t registers[RCORE_MAX_REGISTERS], uint64_t *known)
{
	struct rcore_unwind_context context;
	if (!rcore_parked_fiber(&session->target, &session->located.location.layout.traits,
				fiber, &context))
		return false;
	memcpy(registers, context.registers, sizeof(context.registers));
	*known = context.known;
	return true;
}

static const struct machine *find_machine(unsigned number)
{
	for (size_t i = 0; i < RCORE_COUNT(machines); i++)
		if (machines[i].number == number)
			return &machines[i];
	return NULL;
}

/* Returns an id that is easy to find: 20000013 for T2.F13. */
static int number_of(const struct rcore_fiber *fiber, int *next_free)
{
	int thread, own;
	if (sscanf(fiber->id, "T%d.F%d", &thread, &own) == 2 && thread > 0 &&
	    thread <= MAX_THREAD && own >= 0 && own < THREAD_STEP)
		return thread * THREAD_STEP + own;
	return (*next_free)++;
}

static int tid_of(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	if (fiber->thread < 0 || (size_t)fiber->thread >= snapshot->thread_count)
		return 0;
	const struct rcore_thread *thread = &snapshot->threads[fiber->thread];
	return thread->is_ended ? 0 : thread->tid;
}

static const struct rcore_native_thread *native_thread(const struct rcore_process *process,
						       int tid)
{
	for (size_t i = 0; tid && i < process->thread_count; i++)
		if (process->threads[i].tid == tid && process->threads[i].has_registers)
			return &process->threads[i];
	return NULL;
}

/*
 * Leaves a register at 0 if its value is unknown, because a note cannot say so.
 */
static bool fill(struct rcore_session *session, const struct rcore_fiber *fiber, int tid,
		 struct rcore_added_thread *ret)
{
	uint64_t saved[RCORE_MAX_REGISTERS], known;
	const struct machine *machine = find_machine(session->target.process->machine);
	const struct rcore_native_thread *owner = native_thread(session->target.process, tid);
	if (!machine || !rcore_fiber_registers(session, fiber, saved, &known))
		return false;
	ret->owner = tid;
	snprintf(ret->name, sizeof(ret->name), "%.15s", fiber->id);
	for (int i = 0; i < rcore_register_count(machine->number); i++) {
		if (known >> i & 1)
			ret->registers[i] = saved[i];
		else if (owner && machine->of_thread >> i & 1)
			ret->registers[i] = owner->registers[i];
	}
	if (machine->system_call >= 0)
		ret->registers[machine->system_call] = UINT64_MAX;
	return true;
}

struct conversion {
	struct rcore_added_thread *added;
	size_t added_count;
	struct rcore_converted *rows;
	size_t row_count;
};

static void convert(struct rcore_session *session, const struct rcore_snapshot *snapshot,
		    struct conversion *conversion)
{
	int next_free = FIRST_FREE;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		struct rcore_added_thread *added = &conversion->added[conversion->added_count];
		int tid = tid_of(snapshot, fiber);
		struct rcore_converted row = {.fiber = (int)i};
		if (fiber->is_parked) {
			row.is_added = true;
			if (fill(session, fiber, tid, added)) {
				row.tid = added->tid = number_of(fiber, &next_free);
				conversion->added_count++;
			}
		} else if (fiber->is_current && tid) {
			row.tid = tid;
		} else {
			continue;
		}
		conversion->rows[conversion->row_count++] = row;
	}
}

struct rcore_error *rcore_convert_fibers(struct rcore_session *session,
					 const struct rcore_snapshot *snapshot,
					 const char *path, struct rcore_converted **ret,
					 size_t *count)
{
	if (!session->target.core)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"only a core can be converted; write one with gcore PID");
	if (session->settings.redact)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"a converted core contains everything that the core does, so it cannot "
			"be redacted; use rcore pack --redact");
	struct conversion conversion = {
		.added = rcore_calloc(snapshot->fiber_count, sizeof(*conversion.added)),
		.rows = rcore_calloc(snapshot->fiber_count, sizeof(*conversion.rows)),
	};
	struct rcore_error *err =
		conversion.added && conversion.rows ? NULL : rcore_error_no_memory();
	const struct rcore_inputs *inputs;
	if (!err)
		err = rcore_session_inputs(session, &inputs);
	if (!err) {
		convert(session, snapshot, &conversion);
		err = rcore_core_copy(session->target.core, path, inputs, conversion.added,
				      conversion.added_count);
	}
	free(conversion.added);
	if (err) {
		free(conversion.rows);
		return err;
	}
	*ret = conversion.rows;
	*count = conversion.row_count;
	return NULL;
}
