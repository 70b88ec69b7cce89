/* SPDX-License-Identifier: MIT */
#include "report/ci/finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/signal_name.h"
#include "base/text.h"
#include "report/text/cause_lines.h"
#include "triage/crash_stack.h"
#include "triage/origin.h"

/* Returns NULL if memory is short. */
static const char *escaped(struct rcore_arena *arena, const char *text)
{
	char *copy = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&copy, &size);
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
		struct rcore_finding_place place = {
			.label = frame->label ? escaped(arena, frame->label) : NULL,
			.path = below(frame->path, root),
			.line = frame->line,
		};
		place.shown_path = escaped(arena, place.path);
		if (!place.shown_path)
			return rcore_error_no_memory();
		const struct rcore_finding_place *last =
			finding->place_count ? &finding->places[finding->place_count - 1]
					     : NULL;
		if (!last || last->line != place.line || strcmp(last->path, place.path) != 0)
			finding->places[finding->place_count++] = place;
	}
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
	const char *where = escaped(arena, blame->name     ? blame->name
					   : blame->module ? blame->module
							   : "unknown code");
	const char *text = escaped(arena, cause->text ? cause->text : name);
	if (!where || !text)
		return rcore_error_no_memory();
	finding.title = rcore_arena_printf(arena, "%s in %s", name, where);
	struct gathered gathered = {arena, ""};
	rcore_cause_lines(cause, gather, &gathered);
	if (!gathered.text)
		return rcore_error_no_memory();
	finding.message = rcore_arena_printf(
		arena, "%s.%s Blamed: %s (%s). Signature %s", text, gathered.text, where,
		blame->present ? blame->why : "no stack",
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
