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

static bool any_word(struct rcore_memory *memory, const struct rcore_native_thread *thread,
		     uint64_t sp, rcore_word_visit *visit, void *context)
{
	uint64_t words[FRAME / sizeof(uint64_t) / 4];
	for (int i = 0; i < thread->register_count; i++)
		if (visit(context, thread->registers[i]))
			return true;
	if (rcore_read(memory, sp, words, sizeof(words)))
		return false;
	for (size_t i = 0; i < RCORE_COUNT(words); i++)
		if (visit(context, words[i]))
			return true;
	return false;
}

bool rcore_any_at_hand(struct rcore_memory *memory, const struct rcore_process *process,
		       rcore_word_visit *visit, void *context)
{
	int sp = process ? rcore_register_sp(process->machine) : -1;
	for (size_t i = 0; sp >= 0 && i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (runs(memory, process, thread) &&
		    any_word(memory, thread, thread->registers[sp], visit, context))
			return true;
	}
	return false;
}

static bool is_value(void *context, uint64_t word)
{
	return word == *(const uint64_t *)context;
}

bool rcore_is_at_hand(struct rcore_memory *memory, const struct rcore_process *process,
		      uint64_t value)
{
	return rcore_any_at_hand(memory, process, is_value, &value);
}
