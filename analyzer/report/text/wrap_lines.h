/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_WRAP_LINES_H
#define RCORE_REPORT_WRAP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a finished text report is made to fit a terminal. */
struct rcore_wrap {
	size_t width;    /* columns of the terminal */
	bool keep_paths; /* do not shorten the paths of frames */
	bool is_table;   /* keep the spaces that align columns */
};

/*
 * Writes `text` with each line in at most `width` columns, if that is possible.
 * A line that is too long loses the spaces that align it, then the leading
 * folders of its path (".../puma-6.4.2/lib/puma/server.rb:400") if it is a
 * frame or a row of a table, and is then continued on the next line, indented.
 * A word that is too long stays whole, so that it can be copied. Escape
 * sequences for colors have no width.
 */
void rcore_wrap_lines(const char *text, size_t size, const struct rcore_wrap *wrap, FILE *out);

#endif
