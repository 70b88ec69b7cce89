/* SPDX-License-Identifier: MIT */
#include "flip_compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *flip_effect_name(int index)
{
	static const char *const names[FLIP_EFFECT_COUNT] = {"VM",
							     "Ruby",
							     "ractor",
							     "thread lost",
							     "new thread",
							     "thread",
							     "tid",
							     "fiber lost",
							     "new fiber",
							     "fiber",
							     "fiber links",
							     "fiber stacks",
							     "frame lost",
							     "new frame",
							     "frame kind",
							     "shown or hidden",
							     "line",
							     "self",
							     "text cut",
							     "word of a text",
							     "other label",
							     "other path",
							     "other name",
							     "cause",
							     "other kernel threads",
							     "popped frame"};
	return names[index];
}

struct report {
	unsigned effects;
	char *text;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static void
note(struct report *report, enum flip_effect effect, const char *format, ...)
{
	if (!report->effects) {
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(report->text, report->size, format, arguments);
		va_end(arguments);
	}
	report->effects |= effect;
}

static const char *shown(const char *text)
{
	return text ? text : "nothing";
}

/* How many bytes of `b` are neither at its start nor at its end as they were in `a`. */
static size_t new_bytes(const char *a, const char *b)
{
	size_t length_a = strlen(a), length_b = strlen(b), start = 0, end = 0;
	while (start < length_a && start < length_b && a[start] == b[start])
		start++;
	while (end < length_a - start && end < length_b - start &&
	       a[length_a - 1 - end] == b[length_b - 1 - end])
		end++;
	return length_b - start - end;
}

static void compare_text(struct report *report, enum flip_effect otherwise, const char *where,
			 const char *a, const char *b)
{
	if (rcore_same_text(a, b))
		return;
	size_t bytes = a && b ? new_bytes(a, b) : SIZE_MAX;
	note(report,
	     !bytes                      ? FLIP_TEXT_LESS
	     : bytes <= sizeof(uint64_t) ? FLIP_TEXT_BYTES
					 : otherwise,
	     "%s: %s, was %s", where, shown(b), shown(a));
}

static void compare_native(struct report *report, const char *where,
			   const struct rcore_frame *a, const struct rcore_frame *b)
{
	if (!a->native_label != !b->native_label || !a->native_path != !b->native_path) {
		note(report, FLIP_FRAME_SHOWN, "%s: native %s %s, was %s %s", where,
		     shown(b->native_label), shown(b->native_path), shown(a->native_label),
		     shown(a->native_path));
		return;
	}
	compare_text(report, FLIP_LABEL, where, a->native_label, b->native_label);
	compare_text(report, FLIP_PATH, where, a->native_path, b->native_path);
	if (a->native_line != b->native_line)
		note(report, FLIP_FRAME_LINE, "%s: native line %d, was %d", where,
		     b->native_line, a->native_line);
}

static void compare_frame(struct report *report, const struct rcore_fiber *fiber,
			  const struct rcore_frame *a, const struct rcore_frame *b)
{
	char where[64];
	snprintf(where, sizeof(where), "%s frame 0x%" PRIx64, fiber->id, b->cfp);
	if (a->kind != b->kind || a->under_construction != b->under_construction)
		note(report, FLIP_FRAME_KIND, "%s: kind %d, was %d", where, b->kind, a->kind);
	compare_text(report, FLIP_LABEL, where, a->label, b->label);
	compare_text(report, FLIP_PATH, where, a->path, b->path);
	if (a->line != b->line)
		note(report, FLIP_FRAME_LINE, "%s: line %d, was %d", where, b->line, a->line);
	compare_native(report, where, a, b);
	if (a->self != b->self)
		note(report, FLIP_FRAME_SELF, "%s: self 0x%" PRIx64, where, b->self);
}

static const struct rcore_frame *frame_at(const struct rcore_fiber *fiber, uint64_t cfp)
{
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (fiber->frames[i].cfp == cfp)
			return &fiber->frames[i];
	return NULL;
}

static bool is_popped(const struct rcore_fiber *a, const struct rcore_fiber *b, size_t index)
{
	return !index && b->frames->kind == RCORE_FRAME_CFUNC && a->frame_count &&
	       b->frame_count > 1 && b->frames[1].cfp == a->frames->cfp;
}

static void compare_frames(struct report *report, const struct rcore_fiber *a,
			   const struct rcore_fiber *b)
{
	for (size_t i = 0; i < b->frame_count; i++) {
		const struct rcore_frame *frame = &b->frames[i], *was = frame_at(a, frame->cfp);
		if (was)
			compare_frame(report, b, was, frame);
		else
			note(report, is_popped(a, b, i) ? FLIP_FRAME_POPPED : FLIP_FRAME_NEW,
			     "%s: new frame 0x%" PRIx64 " %s %s:%d", b->id, frame->cfp,
			     shown(frame->label), shown(frame->path), frame->line);
	}
	for (size_t i = 0; i < a->frame_count; i++)
		if (!frame_at(b, a->frames[i].cfp))
			note(report, FLIP_FRAME_LOST, "%s: frame 0x%" PRIx64 " %s lost", b->id,
			     a->frames[i].cfp, shown(a->frames[i].label));
}

static uint64_t thread_address(const struct rcore_snapshot *snapshot, int index)
{
	return index < 0 ? 0 : snapshot->threads[index].address;
}

static uint64_t fiber_address(const struct rcore_snapshot *snapshot, int index)
{
	return index < 0 ? 0 : snapshot->fibers[index].address;
}

struct pair {
	const struct rcore_snapshot *clean, *flipped;
};

static void compare_fiber(struct report *report, const struct pair *pair,
			  const struct rcore_fiber *a, const struct rcore_fiber *b)
{
	if (a->status != b->status || a->is_root != b->is_root ||
	    a->is_current != b->is_current || a->is_continuation != b->is_continuation ||
	    a->yielding != b->yielding || a->blocking != b->blocking || a->object != b->object)
		note(report, FLIP_FIBER_STATE, "%s: state", b->id);
	if (fiber_address(pair->clean, a->resumed_by) !=
		    fiber_address(pair->flipped, b->resumed_by) ||
	    fiber_address(pair->clean, a->resuming) !=
		    fiber_address(pair->flipped, b->resuming) ||
	    thread_address(pair->clean, a->thread) != thread_address(pair->flipped, b->thread))
		note(report, FLIP_FIBER_LINKS, "%s: links", b->id);
	if (a->vm_stack != b->vm_stack || a->vm_stack_size != b->vm_stack_size ||
	    a->machine_stack != b->machine_stack ||
	    a->machine_stack_size != b->machine_stack_size)
		note(report, FLIP_FIBER_STACKS, "%s: stacks", b->id);
	compare_frames(report, a, b);
}

static const struct rcore_fiber *fiber_at(const struct rcore_snapshot *snapshot,
					  uint64_t address)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].address == address)
			return &snapshot->fibers[i];
	return NULL;
}

static void compare_fibers(struct report *report, const struct pair *pair)
{
	for (size_t i = 0; i < pair->flipped->fiber_count; i++) {
		const struct rcore_fiber *fiber = &pair->flipped->fibers[i];
		const struct rcore_fiber *was = fiber_at(pair->clean, fiber->address);
		if (was)
			compare_fiber(report, pair, was, fiber);
		else
			note(report, FLIP_FIBER_NEW, "new fiber 0x%" PRIx64, fiber->address);
	}
	for (size_t i = 0; i < pair->clean->fiber_count; i++)
		if (!fiber_at(pair->flipped, pair->clean->fibers[i].address))
			note(report, FLIP_FIBER_LOST, "fiber %s lost",
			     pair->clean->fibers[i].id);
}

static void compare_thread(struct report *report, const struct pair *pair,
			   const struct rcore_thread *a, const struct rcore_thread *b)
{
	compare_text(report, FLIP_NAME, b->id, a->name, b->name);
	if (a->status != b->status || a->to_kill != b->to_kill || a->gvl != b->gvl ||
	    a->is_main != b->is_main || a->is_ended != b->is_ended || a->object != b->object ||
	    fiber_address(pair->clean, a->current_fiber) !=
		    fiber_address(pair->flipped, b->current_fiber))
		note(report, FLIP_THREAD_STATE, "%s: status %d, GVL %d, was %d, %d", b->id,
		     b->status, b->gvl, a->status, a->gvl);
	if (a->tid != b->tid || a->is_crashed != b->is_crashed)
		note(report, FLIP_THREAD_TID, "%s: tid %d, was %d", b->id, b->tid, a->tid);
}

static const struct rcore_thread *thread_at(const struct rcore_snapshot *snapshot,
					    uint64_t address)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].address == address)
			return &snapshot->threads[i];
	return NULL;
}

static void compare_threads(struct report *report, const struct pair *pair)
{
	for (size_t i = 0; i < pair->flipped->thread_count; i++) {
		const struct rcore_thread *thread = &pair->flipped->threads[i];
		const struct rcore_thread *was = thread_at(pair->clean, thread->address);
		if (was)
			compare_thread(report, pair, was, thread);
		else
			note(report, FLIP_THREAD_NEW, "new thread 0x%" PRIx64, thread->address);
	}
	for (size_t i = 0; i < pair->clean->thread_count; i++)
		if (!thread_at(pair->flipped, pair->clean->threads[i].address))
			note(report, FLIP_THREAD_LOST, "thread %s lost",
			     pair->clean->threads[i].id);
}

static void compare_ractors(struct report *report, const struct pair *pair)
{
	bool same = pair->clean->ractor_count == pair->flipped->ractor_count;
	for (size_t i = 0; same && i < pair->clean->ractor_count; i++) {
		const struct rcore_ractor *a = &pair->clean->ractors[i];
		const struct rcore_ractor *b = &pair->flipped->ractors[i];
		same = a->address == b->address && a->id == b->id &&
		       rcore_same_text(a->name, b->name) && a->thread_count == b->thread_count;
	}
	if (!same)
		note(report, FLIP_RACTOR, "ractors");
}

static void compare_cause(struct report *report, const struct pair *pair)
{
	const struct rcore_cause *a = &pair->clean->cause, *b = &pair->flipped->cause;
	if (a->present != b->present || a->signo != b->signo || a->code != b->code ||
	    a->original_signo != b->original_signo || a->original_code != b->original_code ||
	    a->original_address != b->original_address || a->tid != b->tid ||
	    thread_address(pair->clean, a->thread) !=
		    thread_address(pair->flipped, b->thread) ||
	    fiber_address(pair->clean, a->fiber) != fiber_address(pair->flipped, b->fiber))
		note(report, FLIP_CAUSE, "cause: %s, was %s", shown(b->text), shown(a->text));
}

unsigned flip_compare(const struct rcore_snapshot *clean, const struct rcore_snapshot *flipped,
		      char *text, size_t size)
{
	struct report report = {.text = text, .size = size};
	struct pair pair = {clean, flipped};
	if (clean->vm != flipped->vm ||
	    !rcore_same_text(clean->layout_name, flipped->layout_name))
		note(&report, FLIP_VM, "VM 0x%" PRIx64 " by %s, was 0x%" PRIx64 " by %s",
		     flipped->vm, shown(flipped->layout_name), clean->vm,
		     shown(clean->layout_name));
	if (!rcore_same_text(clean->ruby_version, flipped->ruby_version) ||
	    !rcore_same_text(clean->ruby_description, flipped->ruby_description))
		note(&report, FLIP_RUBY, "Ruby %s (%s)", shown(flipped->ruby_version),
		     shown(flipped->ruby_description));
	compare_ractors(&report, &pair);
	compare_threads(&report, &pair);
	compare_fibers(&report, &pair);
	compare_cause(&report, &pair);
	if (clean->other_count != flipped->other_count)
		note(&report, FLIP_OTHERS, "%zu other threads, were %zu", flipped->other_count,
		     clean->other_count);
	return report.effects;
}
