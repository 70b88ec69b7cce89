/* SPDX-License-Identifier: MIT */
#include "triage/signature.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*
 * The hash that GDB and many others use. It is a header, so there is nothing to
 * link.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/signal_name.h"
#include "base/text.h"
#include "triage/normalize.h"
#include "triage/origin.h"

enum {
	/* Further out, stacks differ because of how the program was started. */
	STRICT_FRAMES = 32,
	LOOSE_FRAMES = 12,
	MAX_PERIOD = 16,    /* of a recursion, in frames */
	NULL_PAGE = 0x10000 /* a field of a NULL pointer */
};

/* The frames of one form that count, among those seen so far. */
struct lines {
	const char **texts;
	size_t count;
};

static const char *cause_line(struct rcore_snapshot *snapshot)
{
	const struct rcore_cause *cause = &snapshot->cause;
	bool original = cause->original_signo;
	int signo = original ? cause->original_signo : cause->signo;
	bool has_address = original ? cause->has_original_address : cause->has_address;
	uint64_t address = original ? cause->original_address : cause->address;
	char name[RCORE_SIGNAL_SIZE];
	if (!cause->present)
		return "alive";
	return rcore_arena_printf(
		&snapshot->arena, "%s%s", rcore_signal_name(signo, name),
		has_address && signo == SIGSEGV && address < NULL_PAGE ? " near NULL" : "");
}

/* Returns the name of the extension that defines a C method, or NULL. */
static const char *extension_of(const struct rcore_snapshot *snapshot,
				const struct rcore_frame *frame)
{
	for (size_t i = 0; frame->cfunc && i < snapshot->module_count; i++) {
		const struct rcore_module_info *module = &snapshot->modules[i];
		if (module->path && !module->is_ruby && frame->cfunc >= module->start &&
		    frame->cfunc < module->end && rcore_is_extension(module->path))
			return rcore_base_name(module->path);
	}
	return NULL;
}

static struct rcore_error *describe_ruby(const struct rcore_frame *frame, bool innermost,
					 struct rcore_snapshot *snapshot,
					 struct rcore_signature_frame *ret)
{
	struct rcore_arena *arena = &snapshot->arena;
	const char *extension = extension_of(snapshot, frame);
	ret->name = frame->label;
	ret->place = extension ? extension : frame->path;
	ret->origin = extension ? RCORE_ORIGIN_EXTENSION : rcore_origin_of_frame(frame);
	if (!frame->label) {
		ret->why = "it has no label";
		return NULL;
	}
	const char *label = rcore_normalize_label(arena, frame->label, false);
	const char *path = frame->path ? rcore_normalize_path(arena, frame->path) : "[C]";
	const char *bare = rcore_normalize_label(arena, frame->label, true);
	if (!label || !path || !bare)
		return rcore_error_no_memory();
	ret->strict = label;
	if (ret->origin == RCORE_ORIGIN_APP)
		ret->strict = rcore_arena_printf(arena, "%s %s", label, path);
	if (!ret->strict)
		return rcore_error_no_memory();
	if (ret->origin == RCORE_ORIGIN_APP || ret->origin == RCORE_ORIGIN_GEM || innermost)
		ret->loose = bare;
	ret->why = ret->origin == RCORE_ORIGIN_APP   ? "code of the application"
		   : ret->origin == RCORE_ORIGIN_GEM ? "code of a gem"
		   : innermost                       ? "the innermost Ruby frame"
		   : extension ? "strict only: a C method of a native extension"
			       : "strict only: part of Ruby, which other releases implement "
				 "differently";
	return NULL;
}

static struct rcore_error *describe_native(const struct rcore_native_frame *frame,
					   struct rcore_arena *arena,
					   struct rcore_signature_frame *ret)
{
	if (!rcore_native_name(arena, frame, &ret->name))
		return rcore_error_no_memory();
	ret->place = frame->module;
	ret->origin = rcore_origin_of_native(frame);
	if (ret->origin == RCORE_ORIGIN_INTERPRETER) {
		ret->why = "part of the interpreter";
		return NULL;
	}
	if (frame->is_inlined) {
		ret->why = "inlined: another compiler may not inline it";
		return NULL;
	}
	if (frame->trust == RCORE_TRUST_SCANNED) {
		ret->why = "found by scanning the stack: it may not be a caller";
		return NULL;
	}
	ret->strict = rcore_normalize_native(arena, frame);
	if (!ret->strict)
		return rcore_error_no_memory();
	if (ret->origin == RCORE_ORIGIN_EXTENSION)
		ret->loose = ret->strict;
	ret->why = ret->loose       ? "code of a native extension"
		   : !frame->module ? "strict only: no file is mapped at this address"
				    : "strict only: code of a system library";
	return NULL;
}

/*
 * The frames outside the outermost Ruby frame show how the thread was started.
 */
static size_t end_of(const struct rcore_crash_stack *stack)
{
	for (size_t i = stack->count; i-- > 0;)
		if (stack->frames[i].ruby)
			return i + 1;
	return stack->count;
}

static struct rcore_error *describe(const struct rcore_crash_stack *stack,
				    struct rcore_snapshot *snapshot)
{
	struct rcore_signature *signature = &snapshot->signature;
	signature->frames =
		rcore_arena_array(&snapshot->arena, stack->count, sizeof(*signature->frames));
	if (!signature->frames)
		return rcore_error_no_memory();
	signature->frame_count = stack->count;
	size_t end = end_of(stack);
	bool met_ruby = false;
	for (size_t i = 0; i < stack->count; i++) {
		const struct rcore_crash_frame *frame = &stack->frames[i];
		struct rcore_signature_frame *described = &signature->frames[i];
		struct rcore_error *err =
			frame->ruby
				? describe_ruby(frame->ruby, !met_ruby, snapshot, described)
				: describe_native(frame->native, &snapshot->arena, described);
		if (err)
			return err;
		met_ruby |= frame->ruby != NULL;
		if (i >= end && described->strict) {
			described->strict = described->loose = NULL;
			described->why = "it started the thread or fiber";
		}
	}
	return NULL;
}

/*
 * Whether the next lines repeat the lines that were kept last. Returns how many
 * they are, or 0.
 */
static size_t next_round(const char *const *kept, size_t kept_count, const char *const *next,
			 size_t next_count)
{
	for (size_t period = 1; period <= MAX_PERIOD && period <= kept_count; period++) {
		size_t same = 0;
		while (same < period && same < next_count &&
		       !strcmp(kept[kept_count - period + same], next[same]))
			same++;
		if (same == period)
			return period;
	}
	return 0;
}

static const char **slot_of(struct rcore_signature_frame *frame, bool loose)
{
	return loose ? &frame->loose : &frame->strict;
}

/* Why a frame does not count in one form, because of its place in the stack. */
enum left_out { COUNTS, FURTHER_ROUND, TOO_FAR };

/*
 * [0]: it counts in neither form; [1]: only in the strict form; [2]: only in
 * the loose form
 */
static const char *const reasons[][3] = {
	[FURTHER_ROUND] = {"repeats the lines before it",
			   "strict only: repeats the lines before it",
			   "loose only: repeats the lines before it"},
	[TOO_FAR] = {"too far from the crash", "strict only: the loose form has enough frames",
		     "loose only: the strict form has enough frames"},
};

static void leave_out(struct rcore_signature_frame *frame, bool loose, enum left_out why)
{
	*slot_of(frame, loose) = NULL;
	frame->why = reasons[why][frame->strict ? 1 : frame->loose ? 2 : 0];
}

/*
 * Leaves out of one form the further rounds of a recursion and the frames past
 * its limit. Collects the rest in `ret`, which has room for all.
 */
static void choose(struct rcore_signature *signature, bool loose, const char **texts,
		   struct rcore_signature_frame **frames, struct lines *ret)
{
	size_t count = 0, limit = loose ? LOOSE_FRAMES : STRICT_FRAMES;
	for (size_t i = 0; i < signature->frame_count; i++) {
		const char *text = *slot_of(&signature->frames[i], loose);
		if (text) {
			texts[count] = text;
			frames[count++] = &signature->frames[i];
		}
	}
	*ret = (struct lines){.texts = texts};
	for (size_t i = 0; i < count;) {
		size_t round = next_round(texts, ret->count, texts + i, count - i);
		enum left_out why = round                 ? FURTHER_ROUND
				    : ret->count == limit ? TOO_FAR
							  : COUNTS;
		for (size_t end = i + (round ? round : 1); i < end; i++) {
			if (why)
				leave_out(frames[i], loose, why);
			else
				texts[ret->count++] = texts[i];
		}
	}
}

static struct rcore_error *hash(struct rcore_arena *arena, const char *cause,
				const struct lines *lines, const char **ret_text,
				const char **ret)
{
	size_t size = strlen(cause) + 2;
	for (size_t i = 0; i < lines->count; i++)
		size += strlen(lines->texts[i]) + 1;
	char *text = rcore_arena_alloc(arena, size);
	if (!text)
		return rcore_error_no_memory();
	char *end = stpcpy(stpcpy(text, cause), "\n");
	for (size_t i = 0; i < lines->count; i++)
		end = stpcpy(stpcpy(end, lines->texts[i]), "\n");
	*ret_text = text;
	*ret = rcore_arena_printf(arena, "r1:%016" PRIx64,
				  (uint64_t)XXH3_64bits(text, (size_t)(end - text)));
	return *ret ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_signature_find(const struct rcore_crash_stack *stack,
					 struct rcore_snapshot *snapshot)
{
	struct rcore_signature *signature = &snapshot->signature;
	const char *cause = cause_line(snapshot);
	if (!cause)
		return rcore_error_no_memory();
	if (!stack->count)
		return NULL;
	struct rcore_error *err = describe(stack, snapshot);
	if (err)
		return err;
	const char **texts = calloc(stack->count, sizeof(*texts));
	struct rcore_signature_frame **frames =
		calloc(stack->count, sizeof(struct rcore_signature_frame *));
	struct lines lines;
	if (texts && frames) {
		choose(signature, false, texts, frames, &lines);
		err = hash(&snapshot->arena, cause, &lines, &signature->strict_text,
			   &signature->strict);
	} else {
		err = rcore_error_no_memory();
	}
	if (!err) {
		choose(signature, true, texts, frames, &lines);
		err = hash(&snapshot->arena, cause, &lines, &signature->loose_text,
			   &signature->loose);
	}
	free(texts);
	free(frames);
	return err;
}
