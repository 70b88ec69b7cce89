/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/text.h"
#include "ruby/children/graph.h"
#include "session/heap/heap.h"
#include "session/heap/heap_variables.h"
#include "session/heap/malloc.h"
#include "session/session.h"
#include "vm/roots.h"

struct reading {
	struct rcore_arena *arena;
	rcore_graph_use *use;
	void *context;
	struct rcore_heap heap;
	struct rcore_chunk_sizes chunks;
	struct rcore_heap_namer namer;
};

struct rcore_error *rcore_session_roots(struct rcore_session *session, struct rcore_ruby *ruby,
					uint64_t vm, uint64_t objspace, struct rcore_heap *heap)
{
	const struct rcore_process *process = session->target.process;
	struct rcore_roots_thread *threads =
		rcore_calloc(process->thread_count, sizeof(*threads));
	size_t count = 0;
	if (!threads)
		return rcore_error_no_memory();
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (thread->has_registers)
			threads[count++] = (struct rcore_roots_thread){
				thread->registers[rcore_register_sp(process->machine)],
				thread->thread_pointer, thread->registers,
				(size_t)thread->register_count};
	}
	if (count < process->thread_count)
		snprintf(heap->problem, sizeof(heap->problem),
			 "the registers of %zu of %zu thread%s are missing%s: what only "
			 "those stacks refer to seems unreachable",
			 process->thread_count - count, process->thread_count,
			 rcore_plural(process->thread_count),
			 session->copied.unstopped_count ? " (not stopped)" : "");
	const struct rcore_roots_source source = {vm, objspace, threads, count,
						  RCORE_ROOTS_STACK_LIMIT};
	struct rcore_error *err = rcore_roots_find(ruby, &source, heap);
	free(threads);
	return err;
}

static struct rcore_error *read_graph(struct rcore_session *session, struct rcore_ruby *ruby,
				      uint64_t vm, uint64_t objspace, struct rcore_heap *heap)
{
	struct rcore_error *err = rcore_graph_slots(ruby, objspace, heap);
	if (!err)
		err = rcore_graph_edges(ruby, heap);
	return err ? err : rcore_session_roots(session, ruby, vm, objspace, heap);
}

static struct rcore_error *run(struct rcore_session *session, struct rcore_ruby *ruby,
			       uint64_t vm, uint64_t objspace, void *context)
{
	struct reading *reading = context;
	reading->namer = (struct rcore_heap_namer){
		.ruby = ruby,
		.heap = &reading->heap,
		.modules = session->target.modules,
		.redactor = session->redactor,
		.arena = reading->arena,
		.threads = {.ruby = ruby,
			    .process = session->target.process,
			    .ids = session->settings.ids,
			    .vm = vm},
	};
	struct rcore_error *err = rcore_session_chunk_sizes(&session->target, &reading->chunks);
	ruby->chunks = &reading->chunks;
	if (!err)
		err = read_graph(session, ruby, vm, objspace, &reading->heap);
	if (!err)
		err = rcore_heap_name_registered(session->target.modules, &reading->heap);
	if (!err)
		err = reading->use(&reading->namer, reading->context);
	rcore_heap_namer_deinit(&reading->namer);
	rcore_heap_deinit(&reading->heap);
	rcore_malloc_deinit(&reading->chunks.heap);
	return err;
}

struct rcore_error *rcore_session_graph(struct rcore_session *session,
					struct rcore_arena *arena, rcore_graph_use *use,
					void *context)
{
	struct reading reading = {.arena = arena, .use = use, .context = context};
	struct rcore_error *err = rcore_heap_prepare(session);
	return err ? err : rcore_session_heap(session, run, &reading);
}
