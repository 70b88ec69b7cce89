/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/grow.h"
#include "vm/roots_private.h"

/*
 * Finds roots in the registers and the machine stacks of kernel threads. The
 * collector only knows where a thread's stack ended when the thread last
 * released the GVL; the stack pointer always shows it. A stack that the C
 * library has allocated starts at its struct pthread, where the thread pointer
 * is; what follows may be any memory, such as pages of the heap, whose garbage
 * would look alive. Any other stack ends at a guard page, at the end of mapped
 * memory, or at the latest after STACK_LIMIT bytes.
 *
 * Stacks that overlap are read once, because a hostile target could list any
 * number of threads on the same stack.
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

/* How far all stacks are read, in the order of their addresses. */
struct reading {
	uint64_t end;  /* of the last one */
	uint64_t left; /* bytes until the limit for all stacks */
};

static bool add_page(struct rcore_roots *roots, uint64_t at, const uint64_t *words,
		     uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (!add_word(roots, words[i], at + i * 8))
			return false;
	return true;
}

static bool add_stack(struct rcore_roots *roots, const struct rcore_roots_thread *thread,
		      struct reading *reading)
{
	uint64_t words[PAGE / 8];
	uint64_t at = thread->sp & ~UINT64_C(7), limit = at + STACK_LIMIT;
	if (thread->thread_pointer > at && thread->thread_pointer < limit)
		limit = thread->thread_pointer & ~UINT64_C(7);
	at = at > reading->end ? at : reading->end;
	for (uint64_t end; at < limit; at = end) {
		end = (at & ~(uint64_t)(PAGE - 1)) + PAGE;
		end = end < limit ? end : limit;
		if (reading->left < end - at) {
			rcore_roots_problem(roots, "the machine stacks together are too large");
			return true;
		}
		if (rcore_read(roots->ruby->memory, at, words, end - at))
			return true;
		reading->left -= end - at;
		reading->end = end;
		if (!add_page(roots, at, words, (end - at) / 8))
			return false;
	}
	return true;
}

static int by_stack(const void *a, const void *b)
{
	const struct rcore_roots_thread *x = a, *y = b;
	if (x->sp != y->sp)
		return x->sp < y->sp ? -1 : 1;
	return (x->thread_pointer > y->thread_pointer) -
	       (x->thread_pointer < y->thread_pointer);
}

static struct rcore_error *add_stacks(struct rcore_roots *roots)
{
	const struct rcore_roots_source *source = roots->source;
	const size_t count = source->thread_count;
	struct reading reading = {.left = source->stack_limit};
	struct rcore_roots_thread *threads = rcore_calloc(count, sizeof(*threads));
	bool has_memory = threads;
	for (size_t i = 0; has_memory && i < count; i++)
		threads[i] = source->threads[i];
	if (has_memory)
		qsort(threads, count, sizeof(*threads), by_stack);
	for (size_t i = 0; has_memory && i < count; i++)
		has_memory = add_stack(roots, &threads[i], &reading);
	free(threads);
	return has_memory ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_roots_machine(struct rcore_roots *roots)
{
	const struct rcore_roots_source *source = roots->source;
	for (size_t i = 0; i < source->thread_count; i++) {
		const struct rcore_roots_thread *thread = &source->threads[i];
		for (size_t n = 0; n < thread->register_count; n++)
			if (!add_word(roots, thread->registers[n], 0))
				return rcore_error_no_memory();
	}
	return add_stacks(roots);
}
