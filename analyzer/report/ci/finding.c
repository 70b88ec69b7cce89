/* SPDX-License-Identifier: MIT */
#include "report/ci/finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/signal_name.h"
#include "base/text.h"
#include "report/text/process/cause_lines.h"
#include "report/text/text_triage.h"
#include "triage/crash_stack.h"
#include "triage/origin.h"
#include "triage/summary.h"
#include "triage/workers.h"

/* Returns NULL if memory is short. */
static const char *escaped(struct rcore_arena *arena, const char *text)
{
	char *copy = NULL;
	size_t size = 0;
	FILE *stream = rcore_open_text(&copy, &size);
	if (!stream)
		return NULL;
	rcore_escape_write(stream, text);
	if (fclose(stream))
		return NULL;
	const char *kept = rcore_arena_strdup(arena, copy);
	free(copy);
	return kept;
}

/* Returns NULL if the path is not in the source folder. */
static const char *below(const char *path, const char *root)
{
	size_t length = root ? strlen(root) : 0;
	if (path[0] != '/')
		return strncmp(path, "../", 3) ? path : NULL;
	while (length && root[length - 1] == '/')
		length--;
	if (!root || strncmp(path, root, length) || path[length] != '/')
		return NULL;
	return path + length + strspn(path + length, "/");
}

/* Whether a path names a file, unlike "-e", "(eval at ...)", "(irb)". */
static bool is_file(const char *path)
{
	return path && path[0] && path[0] != '-' && path[0] != '(' && path[0] != '<';
}

/* Adds the place of a frame of the application in the source folder. */
static struct rcore_error *add_place(const struct rcore_frame *frame, const char *root,
				     struct rcore_arena *arena, struct rcore_finding *finding)
{
	if (!frame || rcore_origin_of_frame(frame) != RCORE_ORIGIN_APP ||
	    !is_file(frame->path) || !frame->line || !below(frame->path, root))
		return NULL;
	struct rcore_finding_place place = {
		.label = frame->label ? escaped(arena, frame->label) : "",
		.path = below(frame->path, root),
		.line = frame->line,
	};
	place.shown_path = escaped(arena, place.path);
	if (!place.shown_path || !place.label)
		return rcore_error_no_memory();
	if (!frame->label)
		place.label = NULL;
	const struct rcore_finding_place *last =
		finding->place_count ? &finding->places[finding->place_count - 1] : NULL;
	if (!last || last->line != place.line || strcmp(last->path, place.path) != 0)
		finding->places[finding->place_count++] = place;
	return NULL;
}

struct gathered {
	struct rcore_arena *arena;
	const char *text; /* or NULL if memory is short */
};

static void gather(void *context, const char *line)
{
	struct gathered *gathered = context;
	if (gathered->text)
		gathered->text =
			rcore_arena_printf(gathered->arena, "%s %s.", gathered->text, line);
}

/* The lines of the report's summary, each after a space. NULL: no memory. */
static const char *summary_of(const struct rcore_snapshot *snapshot, struct rcore_arena *arena)
{
	const char *text = "";
	for (size_t i = 0; text && i < snapshot->deadlock_count; i++)
		text = rcore_arena_printf(arena, "%s Deadlock: %s.", text,
					  snapshot->deadlocks[i].text);
	for (size_t i = 0; text && i < snapshot->summary_count; i++)
		text = rcore_arena_printf(arena, "%s %s: %s.", text,
					  rcore_summary_title(&snapshot->summary[i]),
					  snapshot->summary[i].text);
	return text;
}

static struct rcore_error *tell_crash(const struct rcore_snapshot *snapshot,
				      struct rcore_arena *arena, struct rcore_finding *finding)
{
	const struct rcore_cause *cause = &snapshot->cause;
	const struct rcore_blame *blame = &snapshot->blame;
	char name[RCORE_SIGNAL_SIZE];
	rcore_signal_name(cause->original_signo ? cause->original_signo : cause->signo, name);
	finding->kind = rcore_arena_strdup(arena, name);
	finding->level = "error";
	finding->about = "A Ruby process was killed by a signal";
	finding->event = "the crash";
	const char *where = escaped(arena, blame->name     ? blame->name
					   : blame->module ? blame->module
							   : "unknown code");
	const char *text = escaped(arena, cause->text ? cause->text : name);
	const char *native = escaped(arena, blame->native ? blame->native : "");
	const char *summary = summary_of(snapshot, arena);
	if (!finding->kind || !where || !text || !native || !summary)
		return rcore_error_no_memory();
	finding->title = rcore_arena_printf(arena, "%s in %s", name, where);
	struct gathered gathered = {arena, ""};
	rcore_cause_lines(cause, gather, &gathered);
	if (!gathered.text)
		return rcore_error_no_memory();
	finding->message = rcore_arena_printf(
		arena, "%s.%s Blamed: %s%s%s (%s). Signature %s%s%s", text, gathered.text,
		where, *native ? ", in " : "", native, blame->present ? blame->why : "no stack",
		snapshot->signature.loose ? snapshot->signature.loose : "unknown",
		*summary ? "." : "", summary);
	finding->fingerprint =
		snapshot->signature.strict ? snapshot->signature.strict : finding->kind;
	return finding->title && finding->message ? NULL : rcore_error_no_memory();
}

static struct rcore_error *find_crash(const struct rcore_snapshot *snapshot, const char *root,
				      struct rcore_arena *arena, struct rcore_finding *finding)
{
	struct rcore_crash_stack stack;
	struct rcore_error *err = tell_crash(snapshot, arena, finding);
	if (!err)
		err = rcore_crash_stack_init(snapshot, &stack);
	if (err)
		return err;
	for (size_t i = 0; !err && i < stack.count && finding->place_count < RCORE_MAX_PLACES;
	     i++)
		err = add_place(stack.frames[i].ruby, root, arena, finding);
	rcore_crash_stack_deinit(&stack);
	return err;
}

/* Returns the line of the summary that has the most blocked fibers, or NULL. */
static const struct rcore_summary_line *blocked_line(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->summary_count; i++)
		if (rcore_summary_is_blocked(&snapshot->summary[i]))
			return &snapshot->summary[i];
	return NULL;
}

/*
 * A fiber of the deadlock, or the one that holds what the others want, or the
 * first that is blocked.
 */
static const struct rcore_fiber *fiber_at_fault(const struct rcore_snapshot *snapshot)
{
	const struct rcore_summary_line *line = blocked_line(snapshot);
	const struct rcore_deadlock *deadlock =
		snapshot->deadlock_count ? &snapshot->deadlocks[0] : NULL;
	int fiber = deadlock && deadlock->count ? deadlock->fibers[0]
		    : line && line->holder >= 0 ? line->holder
		    : line && line->fiber_count ? line->fibers[0]
						: -1;
	return rcore_snapshot_fiber(snapshot, fiber);
}

/* Of a process that lives, or whose core a debugger wrote. */
static struct rcore_error *find_hang(const struct rcore_snapshot *snapshot, const char *root,
				     struct rcore_arena *arena, struct rcore_finding *finding)
{
	bool is_deadlock = snapshot->deadlock_count;
	const struct rcore_summary_line *line = blocked_line(snapshot);
	const struct rcore_fiber *fiber = fiber_at_fault(snapshot);
	struct rcore_error *err = NULL;
	for (size_t i = 0;
	     fiber && !err && i < fiber->frame_count && finding->place_count < RCORE_MAX_PLACES;
	     i++)
		err = add_place(&fiber->frames[i], root, arena, finding);
	if (err)
		return err;
	const struct rcore_finding_place *place =
		finding->place_count ? &finding->places[0] : NULL;
	const struct rcore_frame *frame = fiber ? rcore_application_frame(fiber) : NULL;
	const char *label = place && place->label   ? place->label
			    : frame && frame->label ? escaped(arena, frame->label)
						    : "unknown code";
	const char *summary = summary_of(snapshot, arena);
	if (!label)
		return rcore_error_no_memory();
	finding->kind = is_deadlock ? "deadlock" : "blocked";
	finding->level = is_deadlock ? "error" : "warning";
	finding->about = is_deadlock
				 ? "Threads of a Ruby process wait for each other"
				 : "Threads of a Ruby process are blocked by another thread";
	finding->event = is_deadlock                 ? "a thread of the deadlock"
			 : line && line->holder >= 0 ? "the thread that blocks others"
						     : "a thread that waits";
	finding->title = rcore_arena_printf(
		arena, "%s in %s", is_deadlock ? "Deadlock" : "Blocked threads", label);
	finding->fingerprint = rcore_arena_printf(arena, "%s in %s", finding->kind, label);
	finding->message = summary ? summary + strspn(summary, " ") : NULL;
	return finding->title && finding->fingerprint && finding->message
		       ? NULL
		       : rcore_error_no_memory();
}

struct rcore_error *rcore_finding_make(const struct rcore_snapshot *snapshot, const char *root,
				       struct rcore_arena *arena, struct rcore_finding *ret)
{
	bool is_crash = snapshot->cause.present;
	*ret = (struct rcore_finding){.present = is_crash || snapshot->deadlock_count ||
						 blocked_line(snapshot),
				      .is_crash = is_crash};
	if (!ret->present)
		return NULL;
	ret->places = rcore_arena_alloc(arena, RCORE_MAX_PLACES * sizeof(*ret->places));
	if (!ret->places)
		return rcore_error_no_memory();
	return (is_crash ? find_crash : find_hang)(snapshot, root, arena, ret);
}
