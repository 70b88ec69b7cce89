/* SPDX-License-Identifier: MIT */
#include "vm/find/running.h"

#include "base/count.h"
#include "target/live/syscall.h"

enum { FRAME = 4096 };

static bool runs(struct rcore_memory *memory, const struct rcore_process *process,
		 const struct rcore_native_thread *thread)
{
	struct rcore_syscall call;
	return thread->has_registers &&
	       !rcore_syscall_of(process->machine, thread, memory, &call);
}

bool rcore_is_in_running_frame(struct rcore_memory *memory, const struct rcore_process *process,
			       uint64_t address)
{
	int sp = process ? rcore_register_sp(process->machine) : -1;
	for (size_t i = 0; sp >= 0 && i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (thread->has_registers && address - thread->registers[sp] < FRAME)
			return runs(memory, process, thread);
	}
	return false;
}

static bool holds(struct rcore_memory *memory, const struct rcore_native_thread *thread,
		  uint64_t sp, uint64_t value)
{
	uint64_t words[FRAME / sizeof(uint64_t) / 4];
	for (int i = 0; i < thread->register_count; i++)
		if (thread->registers[i] == value)
			return true;
	if (rcore_read(memory, sp, words, sizeof(words)))
		return false;
	for (size_t i = 0; i < RCORE_COUNT(words); i++)
		if (words[i] == value)
			return true;
	return false;
}

bool rcore_is_at_hand(struct rcore_memory *memory, const struct rcore_process *process,
		      uint64_t value)
{
	int sp = process ? rcore_register_sp(process->machine) : -1;
	for (size_t i = 0; sp >= 0 && i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (runs(memory, process, thread) &&
		    holds(memory, thread, thread->registers[sp], value))
			return true;
	}
	return false;
}
