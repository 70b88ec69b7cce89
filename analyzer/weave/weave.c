/* SPDX-License-Identifier: MIT */
#include "weave/weave.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/stale_frame.h"
#include "ruby/iseq/frame_flags.h"
#include "weave/learn.h"

/* How many events of the two stacks may differ before they must agree again. */
enum { LOOKAHEAD = 64 };

/* The function that loads an extension. */
enum { LOADER = 1 };

/* What both stacks contain: an entry of the interpreter, or a C function. */
struct event {
	/* Of a C method or block; 0: an entry of the interpreter; or LOADER. */
	uint64_t function;
	size_t index; /* of the frame, where the innermost is 0 */
};

struct events {
	struct event *items;
	size_t count, capacity;
};

struct weaver {
	struct rcore_fiber *fiber;
	struct events native, ruby; /* outermost first */
	struct {
		struct rcore_step *items;
		size_t count, capacity;
	} steps; /* outermost first */
	/*
	 * How many frames are left to weave; the next one is the outermost of
	 * these.
	 */
	size_t native_left, ruby_left;
	bool out_of_memory;
};

static void add_event(struct weaver *weaver, struct events *events, uint64_t function,
		      size_t index)
{
	struct event *event = rcore_push(events);
	if (event)
		*event = (struct event){function, index};
	else
		weaver->out_of_memory = true;
}

static void add_step(struct weaver *weaver, enum rcore_step_kind kind, size_t index,
		     const char *reason)
{
	struct rcore_step *step = rcore_push(&weaver->steps);
	if (step)
		*step = (struct rcore_step){kind, (int)index, reason};
	else
		weaver->out_of_memory = true;
}

/*
 * An extension is loaded in a frame without instructions (rb_vm_call_cfunc() of
 * vm.c), whose label is the path.
 */
static bool loads_extension(const struct rcore_frame *frame)
{
	return frame->kind == RCORE_FRAME_RUBY && frame->under_construction &&
	       frame->flags & RCORE_FRAME_FINISH;
}

/*
 * load_ext() of load.c calls one of these, which every libruby exports, and
 * they the extension's Init function.
 */
static bool is_loader(const struct rcore_native_frame *frame)
{
	return frame->is_interpreter && frame->function &&
	       (!strcmp(frame->function, "dln_load") ||
		!strcmp(frame->function, "dln_load_feature"));
}

static void list_ruby(struct weaver *weaver)
{
	for (size_t i = weaver->fiber->frame_count; i-- > 0;) {
		const struct rcore_frame *frame = &weaver->fiber->frames[i];
		if (rcore_enters_interpreter(frame))
			add_event(weaver, &weaver->ruby, 0, i);
		else if (frame->cfunc)
			add_event(weaver, &weaver->ruby, frame->cfunc, i);
		else if (loads_extension(frame))
			add_event(weaver, &weaver->ruby, LOADER, i);
	}
}

/*
 * A native frame counts as a C method only if one of these control frames has
 * that function.
 */
static void list_native(struct weaver *weaver, uint64_t activation)
{
	uint64_t *functions = rcore_calloc(weaver->ruby.count, sizeof(*functions));
	if (!functions) {
		weaver->out_of_memory = true;
		return;
	}
	size_t count = 0;
	for (size_t i = 0; i < weaver->ruby.count; i++)
		if (weaver->ruby.items[i].function)
			functions[count++] = weaver->ruby.items[i].function;
	qsort(functions, count, sizeof(*functions), rcore_ascending);
	for (size_t i = weaver->fiber->native_count; i-- > 0;) {
		const struct rcore_native_frame *frame = &weaver->fiber->native[i];
		uint64_t start = is_loader(frame) ? LOADER : frame->function_start;
		if (frame->is_inlined || !start)
			continue;
		if (start == activation || (activation && frame->part_of == activation))
			add_event(weaver, &weaver->native, 0, i);
		else if (bsearch(&start, functions, count, sizeof(*functions), rcore_ascending))
			add_event(weaver, &weaver->native, start, i);
		else if (frame->part_of && bsearch(&frame->part_of, functions, count,
						   sizeof(*functions), rcore_ascending))
			add_event(weaver, &weaver->native, frame->part_of, i);
	}
	free(functions);
}

static void emit_native(struct weaver *weaver, size_t down_to)
{
	while (weaver->native_left > down_to)
		add_step(weaver, RCORE_STEP_NATIVE, --weaver->native_left, NULL);
}

static void emit_ruby(struct weaver *weaver, size_t down_to)
{
	while (weaver->ruby_left > down_to)
		add_step(weaver, RCORE_STEP_RUBY, --weaver->ruby_left, NULL);
}

/* Writes two events that belong together. */
static void emit_pair(struct weaver *weaver, const struct event *native,
		      const struct event *ruby)
{
	/*
	 * The control frames outside the event ran in the activation before it.
	 */
	emit_ruby(weaver, ruby->index + 1);
	if (ruby->function) {
		emit_native(weaver, native->index + 1);
		emit_ruby(weaver, ruby->index);
		emit_native(weaver, native->index);
	} else {
		emit_native(weaver, native->index);
		emit_ruby(weaver, ruby->index);
	}
}

/* A place in both lists of events: the next ones to weave, or their end. */
struct place {
	size_t native, ruby;
};

/* Finds the nearest pair of equal events after some that differ. */
static bool resynchronise(const struct weaver *weaver, struct place end, struct place *at)
{
	for (size_t sum = 1; sum <= LOOKAHEAD; sum++) {
		for (size_t i = 0; i <= sum; i++) {
			size_t n = at->native + i, r = at->ruby + sum - i;
			if (n >= end.native || r >= end.ruby ||
			    weaver->native.items[n].function != weaver->ruby.items[r].function)
				continue;
			*at = (struct place){n, r};
			return true;
		}
	}
	return false;
}

/* Whether the interpreter is entered in a range of events. */
static bool entered(const struct events *events, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!events->items[i].function)
			return true;
	return false;
}

/*
 * The innermost control frame is pushed, and its activation not entered yet. C
 * methods and functions without a counterpart (a tail call) do not matter, here
 * and below.
 */
static bool is_pushed_only(const struct weaver *weaver, size_t native, size_t ruby)
{
	const struct events *events = &weaver->ruby;
	return !entered(&weaver->native, native, weaver->native.count) &&
	       ruby < events->count && !events->items[events->count - 1].function &&
	       !events->items[events->count - 1].index;
}

/*
 * The innermost control frame is new, before it gets FINISH: it is being
 * filled, or C has pushed it (vm_call0_body() of vm_eval.c sets the flag next).
 * C runs no Ruby frame without an activation. Or its extension is about to be
 * loaded, or has been.
 */
static bool is_new(const struct rcore_fiber *fiber)
{
	const struct rcore_frame *frames = fiber->frames;
	if (!fiber->frame_count)
		return false;
	if (frames->kind == RCORE_FRAME_BROKEN)
		return frames->under_construction;
	if (loads_extension(frames))
		return true;
	return frames->kind == RCORE_FRAME_RUBY && !rcore_enters_interpreter(frames) &&
	       fiber->frame_count > 1 &&
	       (frames[1].kind == RCORE_FRAME_CFUNC || frames[1].kind == RCORE_FRAME_IFUNC);
}

/*
 * The innermost activation is still there, but its control frame is gone: it no
 * longer runs anything.
 */
static bool is_popped_only(const struct weaver *weaver, size_t native, size_t ruby)
{
	const struct events *events = &weaver->native;
	return !entered(&weaver->ruby, ruby, weaver->ruby.count) && native < events->count &&
	       !events->items[events->count - 1].function;
}

static void list_apart(struct weaver *weaver)
{
	emit_ruby(weaver, 0);
	add_step(weaver, RCORE_STEP_GAP, 0,
		 "rcore does not know which native function runs Ruby code, so native and Ruby "
		 "frames are listed separately");
	emit_native(weaver, 0);
}

/* Weaves up to the last pair of equal events before `end`, and moves `at`. */
static void match(struct weaver *weaver, struct place end, struct place *at)
{
	while (at->native < end.native && at->ruby < end.ruby) {
		struct place next = *at;
		if (weaver->native.items[next.native].function !=
			    weaver->ruby.items[next.ruby].function &&
		    !resynchronise(weaver, end, &next))
			return;
		/*
		 * A C function without a control frame (a tail call) does not
		 * put the order in doubt. An activation without a counterpart
		 * does.
		 */
		if (entered(&weaver->native, at->native, next.native) ||
		    entered(&weaver->ruby, at->ruby, next.ruby))
			add_step(weaver, RCORE_STEP_GAP, 0,
				 "native and Ruby frames of this part cannot be matched");
		emit_pair(weaver, &weaver->native.items[next.native],
			  &weaver->ruby.items[next.ruby]);
		*at = (struct place){next.native + 1, next.ruby + 1};
	}
}

static size_t next_entry(const struct events *events, size_t from)
{
	while (from < events->count && events->items[from].function)
		from++;
	return from;
}

/*
 * Weaves the events between two entries of the interpreter separately, so that
 * a C function that has no control frame is not taken for the same function's
 * in another activation: Binding#eval calls the function of Kernel#eval
 * (bind_eval() of proc.c).
 */
static void match_entries(struct weaver *weaver, struct place *at)
{
	while (true) {
		struct place entry = {next_entry(&weaver->native, at->native),
				      next_entry(&weaver->ruby, at->ruby)};
		match(weaver, entry, at);
		if (entry.native == weaver->native.count || entry.ruby == weaver->ruby.count)
			return;
		emit_pair(weaver, &weaver->native.items[entry.native],
			  &weaver->ruby.items[entry.ruby]);
		*at = (struct place){entry.native + 1, entry.ruby + 1};
	}
}

static size_t count_entries(const struct events *events)
{
	size_t count = 0;
	for (size_t i = 0; i < events->count; i++)
		count += !events->items[i].function;
	return count;
}

/* Where a native frame was searched for, others may have been passed over. */
static bool is_whole(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->native_count; i++)
		if (fiber->native[i].trust == RCORE_TRUST_SCANNED)
			return false;
	return !fiber->native_problem && !fiber->problem && !fiber->frames_truncated;
}

/* Do the entries of both stacks differ by no more than the innermost one? */
static bool has_all_entries(const struct weaver *weaver)
{
	size_t native = count_entries(&weaver->native), ruby = count_entries(&weaver->ruby);
	size_t native_end = weaver->native.count, ruby_end = weaver->ruby.count;
	if (!is_whole(weaver->fiber))
		return false;
	return native == ruby ||
	       (native + 1 == ruby && is_pushed_only(weaver, native_end, ruby_end - 1)) ||
	       (native == ruby + 1 && is_popped_only(weaver, native_end - 1, ruby_end));
}

static void weave(struct weaver *weaver)
{
	struct place at = {0}, end = {weaver->native.count, weaver->ruby.count};
	if (has_all_entries(weaver))
		match_entries(weaver, &at);
	else
		match(weaver, end, &at);
	bool pushed = is_pushed_only(weaver, at.native, at.ruby);
	bool popped = is_popped_only(weaver, at.native, at.ruby);
	if (entered(&weaver->native, at.native, weaver->native.count - popped) ||
	    entered(&weaver->ruby, at.ruby, weaver->ruby.count - pushed))
		add_step(weaver, RCORE_STEP_GAP, 0,
			 "native and Ruby frames from here inward cannot be matched");
	emit_ruby(weaver, pushed || is_new(weaver->fiber));
	emit_native(weaver, 0);
	emit_ruby(weaver, 0);
}

static bool keep(struct weaver *weaver, struct rcore_arena *arena)
{
	size_t count = weaver->steps.count;
	struct rcore_step *steps = rcore_arena_array(arena, count, sizeof(*steps));
	if (!steps)
		return false;
	for (size_t i = 0; i < count; i++)
		steps[i] = weaver->steps.items[count - 1 - i];
	weaver->fiber->steps = steps;
	weaver->fiber->step_count = count;
	return true;
}

bool rcore_needs_activation(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		for (size_t j = 0; fiber->native_count && j < fiber->frame_count; j++)
			if (rcore_enters_interpreter(&fiber->frames[j]))
				return true;
	}
	return false;
}

/*
 * A frame that ZJIT's code runs is like one of the interpreter: only the native
 * stack tells. The code writes the frame's pc before some calls alone
 * (gen_save_pc_for_gc() of zjit/src/codegen.rs).
 */
static void find_stale(struct rcore_snapshot *snapshot)
{
	if (!snapshot->facts.jit || strcmp(snapshot->facts.jit, "ZJIT") != 0)
		return;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		struct rcore_frame *frame = fiber->frames;
		bool is_compiled = false;
		for (size_t j = 0;
		     j < fiber->native_count && !is_compiled &&
		     (!snapshot->activation.address ||
		      fiber->native[j].function_start != snapshot->activation.address);
		     j++)
			is_compiled = !fiber->native[j].module;
		if (is_compiled && fiber->frame_count && frame->kind == RCORE_FRAME_RUBY)
			rcore_frame_set_stale(frame);
	}
}

static void know_activation(struct rcore_snapshot *snapshot)
{
	struct rcore_activation *activation = &snapshot->activation;
	if (activation->address && rcore_activation_fits(snapshot, activation->address))
		return;
	uint64_t learned = rcore_learn_activation(snapshot);
	if (learned)
		*activation = (struct rcore_activation){RCORE_ACTIVATION_STACKS, learned};
	else if (!activation->address)
		activation->source = RCORE_ACTIVATION_UNKNOWN;
}

struct rcore_error *rcore_weave(struct rcore_snapshot *snapshot)
{
	struct weaver weaver = {0};
	know_activation(snapshot);
	find_stale(snapshot);
	for (size_t i = 0; i < snapshot->fiber_count && !weaver.out_of_memory; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (!fiber->native_count)
			continue;
		weaver.fiber = fiber;
		weaver.native.count = weaver.ruby.count = weaver.steps.count = 0;
		weaver.native_left = fiber->native_count;
		weaver.ruby_left = fiber->frame_count;
		list_ruby(&weaver);
		list_native(&weaver, snapshot->activation.address);
		if (!snapshot->activation.address &&
		    entered(&weaver.ruby, 0, weaver.ruby.count))
			list_apart(&weaver);
		else
			weave(&weaver);
		weaver.out_of_memory |= !keep(&weaver, &snapshot->arena);
	}
	free(weaver.native.items);
	free(weaver.ruby.items);
	free(weaver.steps.items);
	return weaver.out_of_memory ? rcore_error_no_memory() : NULL;
}
