/* SPDX-License-Identifier: MIT */
#include "vm/roots_private.h"

/*
 * The registers and the machine stack of a kernel thread. The collector knows
 * where the stack of a thread ends only if the thread has released the GVL
 * since; the stack pointer always shows it. Where the stack starts, nothing but
 * a thread's EC knows, so reading ends where memory does, at the latest after
 * STACK_LIMIT bytes.
 */
enum { STACK_LIMIT = 8 << 20, PAGE = 4096 };

static bool add_word(struct rcore_roots *roots, uint64_t value, uint64_t address)
{
	const struct rcore_heap_root root = {
		.kind = RCORE_ROOT_MACHINE,
		.is_conservative = true,
		.address = address,
	};
	return rcore_roots_add(roots, value, &root);
}

static bool add_stack(struct rcore_roots *roots, uint64_t sp)
{
	uint64_t words[PAGE / 8];
	for (uint64_t at = sp & ~UINT64_C(7), end; at - sp < STACK_LIMIT; at = end) {
		end = (at & ~(uint64_t)(PAGE - 1)) + PAGE;
		if (rcore_read(roots->ruby->memory, at, words, end - at))
			break;
		for (uint64_t i = 0; i < (end - at) / 8; i++)
			if (!add_word(roots, words[i], at + i * 8))
				return false;
	}
	return true;
}

struct rcore_error *rcore_roots_machine(struct rcore_roots *roots)
{
	const struct rcore_roots_source *source = roots->source;
	for (size_t i = 0; i < source->thread_count; i++) {
		const struct rcore_roots_thread *thread = &source->threads[i];
		for (size_t n = 0; n < thread->register_count; n++)
			if (!add_word(roots, thread->registers[n], 0))
				return rcore_error_no_memory();
		if (!add_stack(roots, thread->sp))
			return rcore_error_no_memory();
	}
	return NULL;
}
