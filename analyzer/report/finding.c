/* SPDX-License-Identifier: MIT */
#include "report/finding.h"

#include <string.h>

#include "base/signal_name.h"
#include "triage/crash_stack.h"
#include "triage/origin.h"

/* NULL: not below the source folder. */
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

/* A path that names a file: not "-e", "(eval at ...)", "(irb)". */
static bool is_file(const char *path)
{
	return path && path[0] && path[0] != '-' && path[0] != '(' && path[0] != '<';
}

static struct rcore_error *find_places(const struct rcore_crash_stack *stack, const char *root,
				       struct rcore_arena *arena, struct rcore_finding *finding)
{
	finding->places = rcore_arena_alloc(arena, RCORE_MAX_PLACES * sizeof(*finding->places));
	if (!finding->places)
		return rcore_error_no_memory();
	for (size_t i = 0; i < stack->count && finding->place_count < RCORE_MAX_PLACES; i++) {
		const struct rcore_frame *frame = stack->frames[i].ruby;
		if (!frame || rcore_origin_of_frame(frame) != RCORE_ORIGIN_APP ||
		    !is_file(frame->path) || !frame->line || !below(frame->path, root))
			continue;
		struct rcore_finding_place place = {frame->label, below(frame->path, root),
						    frame->line};
		const struct rcore_finding_place *last =
			finding->place_count ? &finding->places[finding->place_count - 1]
					     : NULL;
		if (!last || last->line != place.line || strcmp(last->path, place.path) != 0)
			finding->places[finding->place_count++] = place;
	}
	return NULL;
}

struct rcore_error *rcore_finding_make(const struct rcore_snapshot *snapshot, const char *root,
				       struct rcore_arena *arena, struct rcore_finding *ret)
{
	const struct rcore_cause *cause = &snapshot->cause;
	const struct rcore_blame *blame = &snapshot->blame;
	struct rcore_finding finding = {.present = cause->present};
	char name[RCORE_SIGNAL_SIZE];
	if (!cause->present) {
		*ret = finding;
		return NULL;
	}
	rcore_signal_name(cause->original_signo ? cause->original_signo : cause->signo, name);
	finding.kind = rcore_arena_strdup(arena, name);
	const char *where = blame->name     ? blame->name
			    : blame->module ? blame->module
					    : "unknown code";
	finding.title = rcore_arena_printf(arena, "%s in %s", name, where);
	finding.message = rcore_arena_printf(
		arena, "%s. Blamed: %s (%s). Signature %s", cause->text ? cause->text : name,
		where, blame->present ? blame->why : "no stack",
		snapshot->signature.loose ? snapshot->signature.loose : "unknown");
	if (!finding.kind || !finding.title || !finding.message)
		return rcore_error_no_memory();
	struct rcore_crash_stack stack;
	struct rcore_error *err = rcore_crash_stack_init(snapshot, &stack);
	if (err)
		return err;
	err = find_places(&stack, root, arena, &finding);
	rcore_crash_stack_deinit(&stack);
	if (!err)
		*ret = finding;
	return err;
}
