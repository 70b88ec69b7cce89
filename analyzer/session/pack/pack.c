/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/filler.h"
#include "base/grow.h"
#include "session/inputs.h"
#include "session/pack/pack.h"
#include "session/pack/pack_hide.h"
#include "session/pack/pack_live.h"
#include "session/pack/pack_search.h"
#include "session/pack/pack_values.h"
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

/* Adds the stacks as rcore_session_weave() left them. */
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
	/* If memory is short, everything is hidden. */
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
	struct rcore_pack_live live;
};

static void free_allocated(struct allocated *allocated)
{
	free(allocated->layout);
	free(allocated->fibers);
	free(allocated->stacks);
	rcore_pack_live_deinit(&allocated->live);
}

static struct rcore_error *allocate(const struct rcore_session *session,
				    const struct rcore_snapshot *snapshot,
				    struct allocated *ret)
{
	const struct rcore_located *located = &session->located;
	size_t room = snapshot->thread_count + snapshot->fiber_count + snapshot->other_count;
	*ret = (struct allocated){
		.layout = located->is_found
				  ? rcore_layout_print(&located->location.layout, NULL)
				  : NULL,
		.fibers = rcore_calloc(snapshot->fiber_count, sizeof(*ret->fibers)),
		.stacks = rcore_calloc(room, sizeof(*ret->stacks)),
	};
	bool fine = ret->fibers && ret->stacks && (ret->layout || !located->is_found);
	if (fine && snapshot->live.present)
		fine = rcore_pack_live_init(session, snapshot, &ret->live);
	if (fine)
		return NULL;
	free_allocated(ret);
	return rcore_error_no_memory();
}

/*
 * Writes the note. It contains what rcore read from files, which another
 * machine may not have.
 */
static char *write_note(const struct rcore_session *session,
			const struct rcore_snapshot *snapshot,
			const struct allocated *allocated, size_t *ret_size)
{
	const struct rcore_target *target = &session->target;
	const bool has_heap = session->settings.record_heap;
	/* The heap has the values of all frames. */
	const struct rcore_locals_options all = {
		.self = true, .arguments = true, .locals = true};
	struct rcore_pack_facts facts = {
		.layout = allocated->layout,
		.layout_source = snapshot->layout_source,
		.rubyopt = snapshot->facts.rubyopt,
		.activation = snapshot->activation.address,
		.activation_source = snapshot->activation.source,
		.stacks = allocated->stacks,
		.segments = target->process->segments,
		.segment_count = target->process->segment_count,
		.has_heap = has_heap,
		.values = rcore_pack_values(target->pack,
					    has_heap ? &all : &session->settings.values),
		.redact = snapshot->redaction.mode,
		.fibers = allocated->fibers,
		.fiber_count = snapshot->fiber_count,
		.live = allocated->live.packed,
		.deployment = snapshot->deployment,
	};
	gather(snapshot, &facts);
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		allocated->fibers[i] = snapshot->fibers[i].address;
	for (size_t i = 0; i < RCORE_REDACTED_KINDS; i++)
		facts.redacted[i] = snapshot->redaction.counts[i];
	return rcore_pack_note_write(&facts, ret_size);
}

struct rcore_error *rcore_session_pack(struct rcore_session *session,
				       const struct rcore_snapshot *snapshot,
				       const struct rcore_output *output, uint64_t *ret_size)
{
	const struct rcore_target *target = &session->target;
	const struct rcore_pack_hiding hiding = {hide_command, session->redactor};
	struct rcore_pack_source source;
	struct allocated allocated;
	size_t size;
	struct rcore_error *err = allocate(session, snapshot, &allocated);
	if (err)
		return err;
	char *note = write_note(session, snapshot, &allocated, &size);
	enum rcore_redact mode = session->settings.redact;
	if (target->core || session->settings.record_heap)
		rcore_session_record(target, session->located.identity.module);
	if (target->core) {
		rcore_pack_source_core(target->core, &source);
	} else {
		rcore_pack_source_process(target->process, &allocated.live.notes,
					  allocated.live.segments.items,
					  allocated.live.segments.count, &source);
	}
	drop_environment(target);
	struct rcore_known_secrets *taken = rcore_known_secrets_new();
	err = note && taken ? rcore_session_hide(target, &source, session->redactor, mode,
						 snapshot, taken)
			    : rcore_error_no_memory();
	if (!err)
		err = rcore_pack_write(&source, target->memory, target->recorder, note, size,
				       mode ? &hiding : NULL, output, ret_size);
	if (!err)
		err = rcore_pack_search(output, target->recorder, session->redactor, taken,
					mode);
	rcore_known_secrets_free(taken);
	free(note);
	free_allocated(&allocated);
	return err;
}

struct rcore_error *rcore_pack(struct rcore_session *session,
			       const struct rcore_snapshot *snapshot, const char *path,
			       uint64_t *ret_size)
{
	const struct rcore_target *target = &session->target;
	const struct rcore_inputs *inputs;
	struct rcore_output output;
	if ((!target->core && !target->live) || !target->recorder)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"only a core or a running process can be packed, not what a debugger "
			"has stopped; run `rcore pack` on it in a shell");
	struct rcore_error *err = rcore_session_inputs(session, &inputs);
	if (!err)
		err = rcore_output_open(path, RCORE_OUTPUT_PRIVATE, inputs, &output);
	if (err)
		return err;
	err = rcore_session_pack(session, snapshot, &output, ret_size);
	/* A pack leaves out what can no longer be read. */
	err = rcore_target_judge(target, err);
	if (!err)
		err = rcore_output_keep(&output);
	rcore_output_close(&output);
	return err;
}
