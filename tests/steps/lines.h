/* SPDX-License-Identifier: MIT */
#ifndef STEPS_LINES_H
#define STEPS_LINES_H

#include "findings.h"
#include "states.h"

/*
 * What a program recorded in an earlier run (recorder.rb): the stack at the
 * start of each line. Each stack is a line of the file, its frames
 * "path:line:label" separated by tabs, innermost first.
 */
struct lines {
	struct states stacks;  /* whole */
	struct states callers; /* without the innermost frame's line */
	struct states starts;  /* innermost frames alone */
	char program[4096];    /* the path of its frames */
};

void lines_read(struct lines *lines, const char *path, const char *program);
void lines_deinit(struct lines *lines);

/*
 * Checks that each stack of the main Ractor was recorded. Frames further in
 * than the program's innermost one may be any. The innermost frame of kernel
 * thread `pushing` is being filled, and may be what was there before; 0: none.
 */
void check_lines(struct findings *findings, const struct lines *lines,
		 const struct rcore_snapshot *snapshot, int pushing);

#endif
