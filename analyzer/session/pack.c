/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/filler.h"
#include "base/grow.h"
#include "session/inputs.h"
#include "session/pack_hide.h"
#include "session/session.h"
#include "target/pack/core_pack.h"

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

/* The stacks as rcore_session_weave() left them. */
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

/*
 * Without the files there are no symbols; a search of this data will then find
 * what they point to.
 */
static void add_writable(const struct rcore_target *target, const struct rcore_module *ruby)
{
	uint64_t start, end;
	for (size_t i = 0;
	     ruby && rcore_module_writable(target->modules, ruby, i, &start, &end); i++)
		rcore_recorder_add(target->recorder, start, end - start);
}

/*
 * gdb finds libraries only through the dynamic linker's list. Reads that list
 * as gdb does, so that it is recorded.
 */
static void add_link_map(const struct rcore_target *target)
{
	struct rcore_process process = *target->process;
	struct rcore_modules *modules = NULL;
	process.mapping_count = 0;
	rcore_error_free(rcore_modules_open(&process, target->memory, NULL, &modules));
	rcore_modules_close(modules);
}

/*
 * A walk over the main thread's stack continues into the data that the kernel
 * put above it: 16 random bytes, the command line, the environment, the
 * program's name. No report needs those.
 */
static void drop_environment(const struct rcore_target *target)
{
	enum { RANDOM_SIZE = 16 };
	uint64_t random, name;
	if (rcore_process_auxv(target->process, AT_RANDOM, &random) &&
	    rcore_process_auxv(target->process, AT_EXECFN, &name) && random < name)
		rcore_recorder_forget(target->recorder, random + RANDOM_SIZE, name);
}

static void hide_command(void *context, char *text, size_t size)
{
	struct rcore_spans spans = {0};
	rcore_redactor_command(context, text, size, &spans);
	/* If memory is short, hides everything. */
	if (spans.no_memory)
		rcore_fill(text, size);
	for (size_t i = 0; i < spans.count; i++)
		rcore_fill(text + spans.items[i].start,
			   spans.items[i].end - spans.items[i].start);
	rcore_spans_deinit(&spans);
}

/* The parts of the facts that must be freed. */
struct allocated {
	char *layout;
	uint64_t *fibers;
	struct rcore_packed_stack *stacks;
};

static void free_allocated(struct allocated *allocated)
{
	free(allocated->layout);
	free(allocated->fibers);
	free(allocated->stacks);
}

static struct rcore_error *allocate(const struct rcore_located *located,
				    const struct rcore_snapshot *snapshot,
				    struct allocated *ret)
{
	size_t room = snapshot->thread_count + snapshot->fiber_count + snapshot->other_count;
	*ret = (struct allocated){
		.layout = located->is_found
				  ? rcore_layout_print(&located->location.layout, NULL)
				  : NULL,
		.fibers = rcore_calloc(snapshot->fiber_count, sizeof(*ret->fibers)),
		.stacks = rcore_calloc(room, sizeof(*ret->stacks)),
	};
	if (ret->fibers && ret->stacks && (ret->layout || !located->is_found))
		return NULL;
	free_allocated(ret);
	return rcore_error_no_memory();
}

/* The note contains what comes from files. */
static char *write_note(const struct rcore_target *target,
			const struct rcore_snapshot *snapshot,
			const struct allocated *allocated, size_t *ret_size)
{
	struct rcore_pack_facts facts = {
		.layout = allocated->layout,
		.layout_source = snapshot->layout_source,
		.rubyopt = snapshot->facts.rubyopt,
		.activation = snapshot->activation.address,
		.activation_source = snapshot->activation.source,
		.stacks = allocated->stacks,
		.segments = target->process->segments,
		.segment_count = target->process->segment_count,
		.redact = snapshot->redaction.mode,
		.fibers = allocated->fibers,
		.fiber_count = snapshot->fiber_count,
	};
	gather(snapshot, &facts);
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		allocated->fibers[i] = snapshot->fibers[i].address;
	for (size_t i = 0; i < RCORE_REDACTED_KINDS; i++)
		facts.redacted[i] = snapshot->redaction.counts[i];
	return rcore_pack_note_write(&facts, ret_size);
}

struct rcore_error *rcore_pack(struct rcore_session *session,
			       const struct rcore_snapshot *snapshot, const char *path,
			       uint64_t *ret_size)
{
	const struct rcore_target *target = &session->target;
	const struct rcore_pack_hiding hiding = {hide_command, session->redactor};
	const struct rcore_inputs *inputs;
	struct allocated allocated;
	size_t size;
	if (!target->core || !target->recorder)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"only a core can be packed; write one with gcore PID");
	struct rcore_error *err = allocate(&session->located, snapshot, &allocated);
	if (err)
		return err;
	char *note = write_note(target, snapshot, &allocated, &size);
	enum rcore_redact mode = session->settings.redact;
	add_writable(target, session->located.identity.module);
	add_link_map(target);
	drop_environment(target);
	err = note ? rcore_session_hide(target, session->redactor, mode, snapshot)
		   : rcore_error_no_memory();
	if (!err)
		err = rcore_session_inputs(session, &inputs);
	if (!err)
		err = rcore_core_pack(target->core, target->memory, target->recorder, note,
				      size, mode ? &hiding : NULL, path, inputs, ret_size);
	free(note);
	free_allocated(&allocated);
	return err;
}
