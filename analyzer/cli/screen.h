/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_SCREEN_H
#define RCORE_CLI_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Where a command prints. If standard output is a terminal, lines are folded to
 * its width, and output that is longer than the screen goes to a pager, as with
 * git. Otherwise nothing is changed.
 */
struct rcore_screen {
	FILE *out; /* for the command */
	/* Private. */
	char *text; /* of `out`; NULL: `out` is standard output */
	size_t size;
};

/* How the output may be changed. */
struct rcore_screen_style {
	bool is_text;        /* it is for people, not JSON and the like */
	bool keep_paths;     /* show whole paths, even if they do not fit */
	bool keeps_printing; /* more will follow: no pager */
	bool is_table;       /* keep the spaces that align columns */
};

void rcore_screen_begin(struct rcore_screen *screen);

/*
 * Shows what was printed, and returns when the user has quit the pager. Further
 * calls do nothing. Error: OS.
 */
struct rcore_error *rcore_screen_end(struct rcore_screen *screen,
				     const struct rcore_screen_style *style);

/* Returns the width of the terminal; 0 if standard output is not a terminal. */
size_t rcore_screen_width(void);

/* Returns whether the reader of standard output has gone (`| head`). */
bool rcore_screen_is_unread(void);

/*
 * If the reader of standard output has gone (`| head`), ends the process as
 * SIGPIPE does, without a message.
 */
void rcore_screen_end_if_unread(void);

#endif
