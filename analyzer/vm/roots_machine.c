/* SPDX-License-Identifier: MIT */
#include "vm/roots_private.h"

/*
 * The registers and the machine stack of a kernel thread. The collector knows
 * where the stack of a thread ends only if the thread has released the GVL
 * since; the stack pointer always shows it. A stack that the C library has
 * allocated starts at its struct pthread, where the thread pointer is; what
 * follows may be any memory, such as pages of the heap, whose garbage would
 * look alive. Any other stack ends at a guard page, or where memory does, at
 * the latest after STACK_LIMIT bytes.
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

static bool add_stack(struct rcore_roots *roots, uint64_t sp, uint64_t thread_pointer)
{
	uint64_t words[PAGE / 8];
	uint64_t at = sp & ~UINT64_C(7), limit = at + STACK_LIMIT;
	if (thread_pointer > at && thread_pointer < limit)
		limit = thread_pointer & ~UINT64_C(7);
	for (uint64_t end; at < limit; at = end) {
		end = (at & ~(uint64_t)(PAGE - 1)) + PAGE;
		end = end < limit ? end : limit;
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
		if (!add_stack(roots, thread->sp, thread->thread_pointer))
			return rcore_error_no_memory();
	}
	return NULL;
}
