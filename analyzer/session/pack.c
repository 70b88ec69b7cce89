/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/filler.h"
#include "session/inputs.h"
#include "session/session.h"
#include "target/pack/core_pack.h"

const struct rcore_packed_stack *rcore_session_packed(struct rcore_session *session, int tid,
						      uint64_t fiber)
{
	const struct rcore_pack_facts *pack = session->pack;
	for (size_t i = 0; i < pack->stack_count; i++) {
		/* They are asked for in the order in which they stand there. */
		size_t index = (session->pack_next + i) % pack->stack_count;
		const struct rcore_packed_stack *stack = &pack->stacks[index];
		if (fiber ? stack->fiber == fiber : !stack->fiber && stack->tid == tid) {
			session->pack_next = index + 1;
			return stack;
		}
	}
	return NULL;
}

static void add_fiber(const struct rcore_fiber *fiber, int tid, struct rcore_pack_facts *facts)
{
	facts->stacks[facts->stack_count++] = (struct rcore_packed_stack){
		.fiber = tid ? 0 : fiber->address,
		.tid = tid,
		.frames = fiber->native,
		.frame_count = fiber->native_count,
		.problem = fiber->native_problem,
	};
}

/* The stacks as rcore_session_native() handed them out. */
static void gather(const struct rcore_snapshot *snapshot, struct rcore_pack_facts *facts)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].tid)
			add_fiber(&snapshot->fibers[i], snapshot->fibers[i].tid, facts);
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].is_parked)
			add_fiber(&snapshot->fibers[i], 0, facts);
	for (size_t i = 0; i < snapshot->other_count; i++)
		facts->stacks[facts->stack_count++] = (struct rcore_packed_stack){
			.tid = snapshot->others[i].tid,
			.frames = snapshot->others[i].native,
			.frame_count = snapshot->others[i].native_count,
			.problem = snapshot->others[i].native_problem,
		};
}

/* What the symbols of a file pointed to is found by searching where there is no file. */
static void add_writable(struct rcore_session *session)
{
	uint64_t start, end;
	for (size_t i = 0;
	     session->ruby &&
	     rcore_module_writable(session->modules, session->ruby, i, &start, &end);
	     i++)
		rcore_recorder_add(session->recorder, start, end - start);
}

/* gdb takes the libraries from the dynamic linker's list alone, which is read here as it reads it. */
static void add_link_map(struct rcore_session *session)
{
	struct rcore_process process = *session->process;
	struct rcore_modules *modules = NULL;
	process.mapping_count = 0;
	rcore_error_free(rcore_modules_open(&process, session->memory, NULL, &modules));
	rcore_modules_close(modules);
}

/*
 * Whoever looks through the main thread's stack comes to what the kernel put above it: 16 random bytes, the
 * command line and the environment, the program's name. No report is made of these.
 */
static void drop_environment(struct rcore_session *session)
{
	enum { RANDOM_SIZE = 16 };
	uint64_t random, name;
	if (rcore_process_auxv(session->process, AT_RANDOM, &random) &&
	    rcore_process_auxv(session->process, AT_EXECFN, &name) && random < name)
		rcore_recorder_forget(session->recorder, random + RANDOM_SIZE, name);
}

static void hide_command(void *context, char *text, size_t size)
{
	struct rcore_spans spans = {0};
	rcore_redactor_command(context, text, size, &spans);
	/* Where memory is short, less is told. */
	if (spans.no_memory)
		rcore_fill(text, size);
	for (size_t i = 0; i < spans.count; i++)
		rcore_fill(text + spans.items[i].start,
			   spans.items[i].end - spans.items[i].start);
	rcore_spans_deinit(&spans);
}

struct rcore_error *rcore_pack(struct rcore_session *session,
			       const struct rcore_snapshot *snapshot, const char *path,
			       uint64_t *ret_size)
{
	if (!session->core || !session->recorder)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "only a core can be packed; take one with gcore PID");
	size_t room = snapshot->thread_count + snapshot->fiber_count + snapshot->other_count;
	struct rcore_pack_facts facts = {
		.layout = session->layout_text,
		.layout_source = snapshot->layout_source,
		.rubyopt = snapshot->facts.rubyopt,
		.activation = snapshot->activation.address,
		.activation_source = snapshot->activation.source,
		.stacks = calloc(room + 1, sizeof(*facts.stacks)),
	};
	uint64_t *fibers = calloc(snapshot->fiber_count + 1, sizeof(*fibers));
	if (!facts.stacks || !fibers) {
		free(facts.stacks);
		free(fibers);
		return rcore_error_no_memory();
	}
	gather(snapshot, &facts);
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		fibers[i] = snapshot->fibers[i].address;
	facts.segments = session->process->segments;
	facts.segment_count = session->process->segment_count;
	facts.redact = snapshot->redaction.mode;
	for (size_t i = 0; i < RCORE_REDACTED_KINDS; i++)
		facts.redacted[i] = snapshot->redaction.counts[i];
	facts.fibers = fibers;
	facts.fiber_count = snapshot->fiber_count;
	size_t size;
	char *note = rcore_pack_note_write(&facts, &size);
	const struct rcore_pack_hiding hiding = {hide_command, session->redactor};
	add_writable(session);
	add_link_map(session);
	drop_environment(session);
	const struct rcore_inputs *inputs;
	struct rcore_error *err =
		note ? rcore_session_hide(session, snapshot) : rcore_error_no_memory();
	if (!err)
		err = rcore_session_inputs(session, &inputs);
	if (!err)
		err = rcore_core_pack(session->core, session->memory, session->recorder, note,
				      size, session->redact ? &hiding : NULL, path, inputs,
				      ret_size);
	free(note);
	free(fibers);
	free(facts.stacks);
	return err;
}
