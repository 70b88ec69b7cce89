/* SPDX-License-Identifier: MIT */
#include "sampler/native.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "session/load.h"
#include "session/running.h"
#include "session/weave.h"
#include "vm/stack/frame_flags.h"

enum {
	SECOND = 1000000000,
	FAILURES_MAX = 5, /* then it tries every 32 seconds */
};

/*
 * A second session for the process. It has the files that are mapped now; the
 * sampler's own session lasts as long as the process runs.
 */
struct rcore_native {
	struct rcore_session *session;
	struct rcore_located *located; /* the session's */
	uint64_t mapped;               /* a hash of the mapped code */
	uint64_t looked;               /* when the maps were read */
	struct rcore_activation activation;
	uint64_t core; /* the function that contains the instructions, or 0 */
	bool is_held;
	unsigned failures; /* in a row, to find what unwinding needs */
	/* Of this tick; NULL if it has no native frames. */
	struct rcore_snapshot *snapshot;
};

static bool is_code_of_file(const char *line, size_t length)
{
	/* "START-END r-xp OFFSET DEVICE INODE PATH" */
	const char *rights = memchr(line, ' ', length);
	return rights && (size_t)(rights - line) + 4 < length && rights[3] == 'x' &&
	       memchr(line, '/', length);
}

/* Changes if a library is loaded or unloaded, but not if a JIT compiles. */
static uint64_t mapped_code(const struct rcore_sampler *sampler)
{
	char *text = rcore_live_file(rcore_live_folder(sampler->live), "maps", NULL);
	uint64_t hash = 0;
	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		if (is_code_of_file(line, (size_t)(end - line)))
			hash = XXH3_64bits_withSeed(line, (size_t)(end - line), hash);
		line = *end ? end + 1 : end;
	}
	free(text);
	return hash;
}

static struct rcore_error *find_in_code(struct rcore_native *native,
					const struct rcore_moment *moment)
{
	struct rcore_snapshot *snapshot = moment->snapshot;
	struct rcore_interpreter interpreter = {.instructions = moment->instructions.items,
						.count = moment->instructions.count,
						.activation = snapshot->activation.address};
	struct rcore_code *code;
	struct rcore_error *err = rcore_target_code(&native->session->target, &code);
	if (!err)
		err = rcore_unwind(code, &snapshot->arena, NULL, &interpreter, NULL, 0);
	native->activation = snapshot->activation;
	if (!native->activation.address && interpreter.activation)
		native->activation = (struct rcore_activation){RCORE_ACTIVATION_CODE,
							       interpreter.activation};
	native->core = interpreter.core;
	return err;
}

/*
 * Finds the function that runs the interpreter. Parts that are read of a
 * running process may not fit together; follow() tries again later.
 */
static struct rcore_error *find_activation(struct rcore_native *native)
{
	struct rcore_target *target = &native->session->target;
	struct rcore_moment moment;
	rcore_live_forget(target->live);
	struct rcore_error *err = rcore_session_read(native->session, &moment);
	if (!err) {
		struct rcore_snapshot *snapshot = moment.snapshot;
		rcore_session_known_activation(target, native->located, snapshot);
		err = find_in_code(native, &moment);
		rcore_snapshot_free(snapshot);
	}
	rcore_live_forget(target->live);
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	return NULL;
}

static struct rcore_error *open_session(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	struct rcore_options options = sampler->open;
	rcore_close(native->session);
	native->session = NULL;
	native->activation = (struct rcore_activation){RCORE_ACTIVATION_UNKNOWN, 0};
	native->core = 0;
	options.no_stop = options.no_native = false;
	options.redact = RCORE_REDACT_NONE;
	struct rcore_error *err =
		rcore_open_pid(rcore_sampler_pid(sampler), &options, &native->session);
	return err ? err : rcore_session_find(native->session, &native->located);
}

/* Notices what the process loads. Without a session there are no frames. */
static struct rcore_error *follow(struct rcore_sampler *sampler, uint64_t now)
{
	struct rcore_native *native = sampler->native;
	struct rcore_error *err = NULL;
	if (native->looked && now - native->looked < (uint64_t)SECOND << native->failures)
		return NULL;
	native->looked = now;
	uint64_t mapped = mapped_code(sampler);
	if (!native->session || mapped != native->mapped)
		err = open_session(sampler);
	native->mapped = err ? 0 : mapped;
	if (!err && (!native->activation.address || !native->core))
		err = find_activation(native);
	bool failed = err || !native->activation.address || !native->core;
	if (err) {
		rcore_close(native->session);
		native->session = NULL;
	}
	/* Each try reads the whole VM. */
	native->failures = !failed                           ? 0
			   : native->failures < FAILURES_MAX ? native->failures + 1
							     : FAILURES_MAX;
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	return NULL;
}

struct rcore_error *rcore_native_new(struct rcore_sampler *sampler)
{
	sampler->native = calloc(1, sizeof(*sampler->native));
	return sampler->native ? follow(sampler, rcore_clock_ns()) : rcore_error_no_memory();
}

void rcore_native_free(struct rcore_native *native)
{
	if (!native)
		return;
	rcore_snapshot_free(native->snapshot);
	rcore_close(native->session);
	free(native);
}

struct rcore_error *rcore_native_hold(struct rcore_sampler *sampler, uint64_t now)
{
	struct rcore_native *native = sampler->native;
	if (!native)
		return NULL;
	rcore_snapshot_free(native->snapshot);
	native->snapshot = NULL;
	struct rcore_error *err = follow(sampler, now);
	if (err || !native->session) {
		sampler->statistics.not_stopped++;
		return err;
	}
	rcore_live_forget(native->session->target.live);
	err = rcore_live_begin(native->session->target.live, true);
	native->is_held = !err;
	if (err)
		sampler->statistics.not_stopped++;
	/*
	 * A debugger holds it, or it has ended: the following reads will report
	 * that.
	 */
	rcore_error_free(err);
	return NULL;
}

void rcore_native_let_go(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	struct rcore_live_pause pause;
	if (!native || !native->is_held)
		return;
	native->is_held = false;
	rcore_live_end(native->session->target.live, &pause);
	sampler->statistics.not_stopped += pause.unstopped_count;
	if (pause.overdue) {
		/* It ran while its stacks were copied: they may be torn. */
		rcore_snapshot_free(native->snapshot);
		native->snapshot = NULL;
		sampler->statistics.not_stopped++;
		return;
	}
	sampler->statistics.stopped++;
	sampler->statistics.stopped_ns += pause.nanoseconds;
	if (pause.nanoseconds > sampler->statistics.longest_stop_ns)
		sampler->statistics.longest_stop_ns = pause.nanoseconds;
}

static uint64_t word_at(const struct rcore_sampler *sampler, uint64_t address,
			const struct rcore_field *field)
{
	uint64_t value = 0;
	if (!rcore_has_place(field) ||
	    rcore_read_field(rcore_live_bare_memory(sampler->live), address, field, &value))
		return 0;
	return value;
}

/* What unwinding needs to know about a thread besides its frames. */
static void describe(struct rcore_sampler *sampler, size_t index,
		     struct rcore_snapshot *snapshot)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_sampled_thread *sampled = sampler->threads.items[index];
	const struct rcore_stack *stack = &sampled->track.stack;
	uint64_t address = stack->ec - (uint64_t)layout->fiber.saved_ec.offset;
	snapshot->threads[index] = (struct rcore_thread){
		.address = sampled->address,
		.tid = sampled->inner_tid,
		.status = (enum rcore_thread_status)rcore_piece_field(
			&stack->pieces[RCORE_PIECE_THREAD], &layout->thread.status),
		.ractor = -1,
		.current_fiber = stack->ec ? (int)index : -1,
	};
	struct rcore_fiber *fiber = &snapshot->fibers[index];
	*fiber = (struct rcore_fiber){
		.thread = (int)index,
		.resumed_by = -1,
		.resuming = -1,
		.group = -1,
		.is_current = true,
		.status = RCORE_FIBER_RESUMED,
	};
	if (!stack->ec)
		return;
	fiber->address = address;
	fiber->ec = stack->ec;
	fiber->tid = sampled->inner_tid;
	fiber->vm_stack = stack->bottom;
	fiber->vm_stack_size = stack->top - stack->bottom;
	fiber->machine_stack = word_at(sampler, address, &layout->fiber.stack_base);
	fiber->machine_stack_size = word_at(sampler, address, &layout->fiber.stack_size);
	fiber->stack_base = word_at(sampler, stack->ec, &layout->ec.machine_stack_start);
}

static struct rcore_snapshot *new_snapshot(const struct rcore_sampler *sampler)
{
	size_t count = sampler->threads.count;
	struct rcore_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return NULL;
	snapshot->threads =
		rcore_arena_array(&snapshot->arena, count, sizeof(*snapshot->threads));
	snapshot->fibers =
		rcore_arena_array(&snapshot->arena, count, sizeof(*snapshot->fibers));
	if (!snapshot->threads || !snapshot->fibers) {
		rcore_snapshot_free(snapshot);
		return NULL;
	}
	snapshot->thread_count = snapshot->fiber_count = count;
	return snapshot;
}

struct rcore_error *rcore_native_keep(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	if (!native || !native->is_held)
		return NULL;
	native->snapshot = new_snapshot(sampler);
	if (!native->snapshot)
		return rcore_error_no_memory();
	for (size_t i = 0; i < sampler->threads.count; i++)
		describe(sampler, i, native->snapshot);
	return rcore_running_keep_stacks(&native->session->target, native->snapshot);
}

struct rcore_error *rcore_native_weave(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	struct rcore_snapshot *snapshot = native ? native->snapshot : NULL;
	if (!snapshot)
		return NULL;
	const struct rcore_moment moment = {.snapshot = snapshot};
	snapshot->activation = native->activation;
	for (size_t i = 0; i < sampler->threads.count; i++) {
		const struct rcore_track *track = &sampler->threads.items[i]->track;
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		fiber->frames = rcore_sampler_frames(sampler, track, track->count,
						     &snapshot->arena, &fiber->frame_count);
		if (!fiber->frames)
			return rcore_error_no_memory();
	}
	struct rcore_error *err =
		rcore_session_weave(&native->session->target, native->located, &moment);
	if (err && err->code != RCORE_ERROR_NO_MEMORY) {
		rcore_error_free(err);
		err = NULL;
	}
	return err;
}

/*
 * Whether a frame belongs to the interpreter's loop: rb_vm_exec, or the
 * function that it calls, which contains the addresses of instructions. Code
 * that was inlined there belongs to the loop.
 */
static bool is_loop(const struct rcore_native *native, const struct rcore_fiber *fiber,
		    size_t index)
{
	while (index + 1 < fiber->native_count && fiber->native[index].is_inlined)
		index++;
	const struct rcore_native_frame *frame = &fiber->native[index];
	uint64_t start = frame->function_start;
	if (!start || !frame->is_interpreter)
		return false;
	return start == native->core || start == native->activation.address ||
	       (native->activation.address && frame->part_of == native->activation.address);
}

static uint32_t frame_of(struct rcore_profile *profile, const struct rcore_native_frame *frame)
{
	char name[128];
	const char *label = frame->function;
	uint64_t address = frame->is_inlined || !frame->module_offset
				   ? 0
				   : frame->module_offset - frame->function_offset;
	if (frame->is_signal) {
		label = "<signal handler called>";
	} else if (!label) {
		snprintf(name, sizeof(name), frame->module ? "%s+0x%llx" : "[no file]",
			 frame->module, (unsigned long long)address);
		label = name;
	}
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NATIVE,
		.label = rcore_profile_string(profile, label),
		.path = rcore_profile_string(profile,
					     frame->file ? frame->file : frame->module),
		.address = address,
	};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function),
				   frame->line > 0 ? (uint32_t)frame->line : 0);
}

static uint32_t gap_frame(struct rcore_profile *profile)
{
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NOTE,
		.label =
			rcore_profile_string(profile, "(native and Ruby frames do not match)")};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function), 0);
}

/*
 * Finds the steps of the innermost and the outermost Ruby frame; step_count if
 * there is none.
 */
static void bounds_of(const struct rcore_fiber *fiber, size_t *ret_innermost,
		      size_t *ret_outermost)
{
	*ret_innermost = *ret_outermost = fiber->step_count;
	for (size_t i = fiber->step_count; i-- > 0;) {
		if (fiber->steps[i].kind != RCORE_STEP_RUBY)
			continue;
		*ret_innermost = i;
		if (*ret_outermost == fiber->step_count)
			*ret_outermost = i;
	}
}

uint32_t rcore_native_node(struct rcore_sampler *sampler, size_t index, bool in_gc)
{
	struct rcore_profile *profile = sampler->profile;
	struct rcore_native *native = sampler->native;
	const struct rcore_track *track = &sampler->threads.items[index]->track;
	const struct rcore_fiber *fiber =
		native && native->snapshot ? &native->snapshot->fibers[index] : NULL;
	uint32_t node = 0;
	size_t innermost, outermost;
	if (!fiber || !fiber->step_count)
		return in_gc ? rcore_sampler_gc_node(sampler, track->node) : track->node;
	bounds_of(fiber, &innermost, &outermost);
	for (size_t i = outermost < fiber->step_count ? outermost + 1 : fiber->step_count;
	     i-- > 0;) {
		const struct rcore_step *step = &fiber->steps[i];
		uint32_t frame = 0;
		if (i + 1 == innermost && in_gc)
			node = rcore_sampler_gc_node(sampler, node);
		if (step->kind == RCORE_STEP_RUBY) {
			frame = track->known[track->count - 1 - (size_t)step->index].code.frame;
		} else if (step->kind == RCORE_STEP_GAP) {
			frame = gap_frame(profile);
			sampler->statistics.gaps++;
		} else {
			const struct rcore_native_frame *found = &fiber->native[step->index];
			/*
			 * How the interpreter calls itself is of no interest.
			 */
			bool is_shown =
				!found->is_interpreter ||
				(i < innermost && !is_loop(native, fiber, (size_t)step->index));
			frame = is_shown ? frame_of(profile, found) : 0;
		}
		if (frame)
			node = rcore_profile_node(profile, node, frame);
	}
	if (in_gc && !innermost)
		node = rcore_sampler_gc_node(sampler, node);
	return node;
}
