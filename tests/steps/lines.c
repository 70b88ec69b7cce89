/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t add_text(uint64_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = states_mix(hash, (unsigned char)text[i]);
	return states_mix(hash, 256);
}

/* One frame: path and label; the line separately, for it may be left out. */
static uint64_t add_frame(uint64_t hash, const char *path, size_t path_length,
			  const char *label, size_t label_length, int line)
{
	hash = add_text(hash, path, path_length);
	hash = add_text(hash, label, label_length);
	return states_mix(hash, (uint64_t)line);
}

struct hashes {
	uint64_t stack, callers, start;
	size_t count;
};

static void add(struct hashes *hashes, const char *path, size_t path_length, const char *label,
		size_t label_length, int line)
{
	bool is_first = !hashes->count++;
	hashes->stack = add_frame(hashes->stack, path, path_length, label, label_length, line);
	hashes->callers = add_frame(hashes->callers, path, path_length, label, label_length,
				    is_first ? 0 : line);
	if (is_first)
		hashes->start = hashes->stack;
}

static void read_stack(struct lines *lines, char *text)
{
	struct hashes hashes = {0};
	char *rest = text;
	for (char *frame; (frame = strsep(&rest, "\t"));) {
		char *end;
		char *line = strchr(frame, ':');
		if (!line) {
			fprintf(stderr, "steps: no recorded frame: %s\n", frame);
			exit(2);
		}
		/* The programs' paths have no colon, but <internal:kernel> has. */
		while (line[1] < '0' || line[1] > '9')
			line = strchr(line + 1, ':');
		long number = strtol(line + 1, &end, 10);
		add(&hashes, frame, (size_t)(line - frame), end + 1, strlen(end + 1),
		    (int)number);
	}
	states_add(&lines->stacks, hashes.stack);
	states_add(&lines->callers, hashes.callers);
	states_add(&lines->starts, hashes.start);
}

void lines_read(struct lines *lines, const char *path, const char *program)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	if (!in) {
		perror(path);
		exit(2);
	}
	snprintf(lines->program, sizeof(lines->program), "%s", program);
	while ((length = getline(&text, &size, in)) > 0) {
		text[length - 1] = '\0';
		read_stack(lines, text);
	}
	free(text);
	fclose(in);
}

void lines_deinit(struct lines *lines)
{
	states_deinit(&lines->stacks);
	states_deinit(&lines->callers);
	states_deinit(&lines->starts);
}

static void report(struct findings *findings, const char *name, const struct rcore_fiber *fiber,
		   const struct rcore_frame *first)
{
	char text[1024] = "";
	size_t used = 0;
	const struct rcore_frame *end = fiber->frames + fiber->frame_count;
	for (const struct rcore_frame *frame = first; frame < end; frame++)
		if (frame->native_label && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "\n        %s:%d:%s",
						 frame->native_path ? frame->native_path : "",
						 frame->native_line, frame->native_label);
	finding(findings, name, "%s:%s", fiber->id, text);
}

static void check(struct findings *findings, const struct lines *lines,
		  const struct rcore_fiber *fiber, bool is_pushing)
{
	struct hashes hashes = {0};
	const struct rcore_frame *first = NULL;
	for (size_t i = 0; i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		bool is_program = frame->kind == RCORE_FRAME_RUBY && frame->path &&
				  !frame->under_construction &&
				  !strcmp(frame->path, lines->program);
		if (!frame->native_label || (!first && !is_program))
			continue;
		if (!first)
			first = frame;
		/*
		 * A method in C that no Ruby frame called has no place of its
		 * own.
		 */
		bool has_place = frame->native_path &&
				 (frame->native_line || frame->kind == RCORE_FRAME_RUBY);
		const char *path = has_place ? frame->native_path : "";
		add(&hashes, path, strlen(path), frame->native_label,
		    strlen(frame->native_label), frame->native_line);
	}
	if (!first)
		return;
	if (states_has(&lines->stacks, hashes.stack))
		return;
	/* The line of what compiled code runs may not be known. While the interpreter looks for a handler of an
	 * exception, a frame's pc is where it will continue, on a line that has not begun. */
	bool known = states_has(&lines->callers, hashes.callers);
	findings->excused |= !known && is_pushing;
	if (!known || (!first->pc_stale && states_has(&lines->starts, hashes.start)))
		report(findings,
		       known        ? "(line not begun)"
		       : is_pushing ? "(frame being filled)"
				    : "stack never recorded",
		       fiber, first);
}

void check_lines(struct findings *findings, const struct lines *lines,
		 const struct rcore_snapshot *snapshot, int pushing)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		const struct rcore_thread *thread =
			fiber->thread < 0 ? NULL : &snapshot->threads[fiber->thread];
		if (thread && thread->ractor <= 0)
			check(findings, lines, fiber, pushing && fiber->tid == pushing);
	}
}
