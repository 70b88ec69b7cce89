/* SPDX-License-Identifier: MIT */
#include "weave/weave.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/grow.h"
#include "model/stale_frame.h"
#include "weave/callers.h"
#include "weave/events.h"
#include "weave/learn.h"

/* How many events of the two stacks may differ before they must agree again. */
enum { LOOKAHEAD = 64 };

struct weaver {
	struct rcore_fiber *fiber;
	struct rcore_events native, ruby; /* outermost first */
	struct {
		struct rcore_step *items;
		size_t count, capacity;
	} steps; /* outermost first */
	/*
	 * How many frames are left to weave; the next one is the outermost of
	 * these.
	 */
	size_t native_left, ruby_left;
	/* C entered the interpreter for a control frame that is woven. */
	bool has_entered;
	/* The function of a control frame is on no native frame. */
	bool lacks_function;
	struct rcore_callers *callers;
	uint64_t activation; /* rb_vm_exec; 0: unknown */
	bool out_of_memory;
};

static void add_step(struct weaver *weaver, enum rcore_step_kind kind, size_t index,
		     const char *reason)
{
	struct rcore_step *step = rcore_push(&weaver->steps);
	if (step)
		*step = (struct rcore_step){kind, (int)index, reason};
	else
		weaver->out_of_memory = true;
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

/* The next control frame inside `from`, down to `down_to`, that runs C. */
static size_t next_c_frame(const struct weaver *weaver, size_t from, size_t down_to)
{
	while (from > down_to && !weaver->fiber->frames[from - 1].cfunc)
		from--;
	return from;
}

/* Where the native frames end that are inlined into this one. */
static size_t with_inlined(const struct rcore_fiber *fiber, size_t native)
{
	while (native && fiber->native[native - 1].is_inlined)
		native--;
	return native;
}

/*
 * Writes the control frames down to `down_to`, of which the next one runs C,
 * each after the native frame that calls its function; those that are more than
 * the callers among the native frames down to `native_end`, after the innermost
 * of these. Does nothing and returns false if there is no caller, if there are
 * too many, or if one of them calls the other kind of function.
 */
static bool emit_called(struct weaver *weaver, size_t native_end, size_t down_to)
{
	const struct rcore_fiber *fiber = weaver->fiber;
	for (int writes = 0; writes < 2; writes++) {
		size_t next = weaver->ruby_left;
		for (size_t i = weaver->native_left; i-- > native_end;) {
			if (!rcore_is_caller(weaver->callers, &fiber->native[i], NULL))
				continue;
			if (next == down_to ||
			    !rcore_is_caller(weaver->callers, &fiber->native[i],
					     &fiber->frames[next - 1]))
				return false;
			next = next_c_frame(weaver, next - 1, down_to);
			if (!writes)
				continue;
			emit_native(weaver, with_inlined(fiber, i));
			emit_ruby(weaver, next);
		}
		if (next == weaver->ruby_left && !writes)
			return false;
	}
	emit_ruby(weaver, down_to);
	return true;
}

/*
 * Writes the control frames down to `down_to`. Those of Ruby code run in the
 * activation before; those that run C would have the native frame of their
 * function, but lack it, because it made a tail call or has not been called
 * yet. Theirs is the place of that function, outside the native frames that are
 * inside `native_end`.
 */
static void emit_outside(struct weaver *weaver, size_t native_end, size_t down_to)
{
	emit_ruby(weaver, next_c_frame(weaver, weaver->ruby_left, down_to));
	if (weaver->ruby_left == down_to)
		return;
	weaver->lacks_function = true;
	if (emit_called(weaver, native_end, down_to))
		return;
	/*
	 * The caller is not known. No activation runs the frame if C has called
	 * it: then what started the stack is outside.
	 */
	if (!weaver->has_entered)
		emit_native(weaver, native_end);
	emit_ruby(weaver, down_to);
}

/* The native frame of an event, or of what calls its function. */
static size_t outermost_of(const struct weaver *weaver, const struct rcore_event *native,
			   const struct rcore_event *ruby)
{
	const struct rcore_fiber *fiber = weaver->fiber;
	size_t caller = rcore_caller_of(fiber, native->index);
	return ruby->function > RCORE_LOADER && caller < fiber->native_count &&
			       rcore_is_caller(weaver->callers, &fiber->native[caller],
					       &fiber->frames[ruby->index])
		       ? caller
		       : native->index;
}

/* Writes two events that belong together. */
static void emit_pair(struct weaver *weaver, const struct rcore_event *native,
		      const struct rcore_event *ruby)
{
	emit_outside(weaver, outermost_of(weaver, native, ruby) + 1, ruby->index + 1);
	if (ruby->function) {
		emit_native(weaver, native->index + 1);
		emit_ruby(weaver, ruby->index);
		emit_native(weaver, native->index);
	} else {
		emit_native(weaver, native->index);
		emit_ruby(weaver, ruby->index);
		weaver->has_entered = true;
	}
}

/* Remembers what calls the function of an event. */
static void learn_caller(struct weaver *weaver, const struct rcore_event *native,
			 const struct rcore_event *ruby)
{
	const struct rcore_fiber *fiber = weaver->fiber;
	size_t caller = rcore_caller_of(fiber, native->index);
	if (ruby->function > RCORE_LOADER && caller < fiber->native_count &&
	    !rcore_callers_add(weaver->callers, &fiber->native[caller],
			       &fiber->frames[ruby->index], weaver->activation))
		weaver->out_of_memory = true;
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
static bool entered(const struct rcore_events *events, size_t from, size_t to)
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
	const struct rcore_events *events = &weaver->ruby;
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
	if (rcore_loads_extension(frames))
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
	const struct rcore_events *events = &weaver->native;
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

/*
 * Weaves up to the last pair of equal events before `end`, and moves `at`.
 * `is_sure`: the pairs tell what calls C functions.
 */
static void match(struct weaver *weaver, struct place end, bool is_sure, struct place *at)
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
		const struct rcore_event *native = &weaver->native.items[next.native],
					 *ruby = &weaver->ruby.items[next.ruby];
		if (is_sure)
			learn_caller(weaver, native, ruby);
		emit_pair(weaver, native, ruby);
		*at = (struct place){next.native + 1, next.ruby + 1};
	}
}

static size_t next_entry(const struct rcore_events *events, size_t from)
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
		match(weaver, entry, true, at);
		if (entry.native == weaver->native.count || entry.ruby == weaver->ruby.count)
			return;
		emit_pair(weaver, &weaver->native.items[entry.native],
			  &weaver->ruby.items[entry.ruby]);
		*at = (struct place){entry.native + 1, entry.ruby + 1};
	}
}

static size_t count_entries(const struct rcore_events *events)
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
		match(weaver, end, false, &at);
	bool pushed = is_pushed_only(weaver, at.native, at.ruby);
	bool popped = is_popped_only(weaver, at.native, at.ruby);
	if (entered(&weaver->native, at.native, weaver->native.count - popped) ||
	    entered(&weaver->ruby, at.ruby, weaver->ruby.count - pushed))
		add_step(weaver, RCORE_STEP_GAP, 0,
			 "native and Ruby frames from here inward cannot be matched");
	emit_outside(weaver, 0, pushed || is_new(weaver->fiber));
	emit_native(weaver, 0);
	emit_ruby(weaver, 0);
}

static void weave_fiber(struct weaver *weaver, struct rcore_fiber *fiber)
{
	weaver->fiber = fiber;
	weaver->steps.count = 0;
	weaver->native_left = fiber->native_count;
	weaver->ruby_left = fiber->frame_count;
	weaver->has_entered = weaver->lacks_function = false;
	if (!rcore_list_events(fiber, weaver->activation, &weaver->ruby, &weaver->native))
		weaver->out_of_memory = true;
	else if (!weaver->activation && entered(&weaver->ruby, 0, weaver->ruby.count))
		list_apart(weaver);
	else
		weave(weaver);
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
 * A frame that ZJIT's code runs looks like one of the interpreter: only the
 * native stack shows the difference. The code writes the frame's pc only before
 * some calls (gen_save_pc_for_gc() of zjit/src/codegen.rs).
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

/*
 * Weaves all fibers. A fiber that lacks the function of a control frame is
 * woven again when all stacks have shown what calls such functions.
 */
struct rcore_error *rcore_weave(struct rcore_snapshot *snapshot, struct rcore_callers *callers)
{
	struct rcore_callers own = {0};
	struct weaver weaver = {.callers = callers ? callers : &own};
	bool *lacks_function = rcore_calloc(snapshot->fiber_count, sizeof(*lacks_function));
	know_activation(snapshot);
	find_stale(snapshot);
	weaver.activation = snapshot->activation.address;
	weaver.out_of_memory = !lacks_function;
	for (size_t i = 0; i < snapshot->fiber_count && !weaver.out_of_memory; i++) {
		if (!snapshot->fibers[i].native_count)
			continue;
		weave_fiber(&weaver, &snapshot->fibers[i]);
		lacks_function[i] = weaver.lacks_function;
		if (!lacks_function[i])
			weaver.out_of_memory |= !keep(&weaver, &snapshot->arena);
	}
	for (size_t i = 0; i < snapshot->fiber_count && !weaver.out_of_memory; i++) {
		if (!lacks_function[i])
			continue;
		weave_fiber(&weaver, &snapshot->fibers[i]);
		weaver.out_of_memory |= !keep(&weaver, &snapshot->arena);
	}
	free(lacks_function);
	rcore_callers_deinit(&own);
	free(weaver.native.items);
	free(weaver.ruby.items);
	free(weaver.steps.items);
	return weaver.out_of_memory ? rcore_error_no_memory() : NULL;
}
