/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HTML_PAGE_H
#define RCORE_REPORT_HTML_PAGE_H

#include <stdio.h>

#include "base/error.h"

/*
 * A page to read in a browser: one file that loads nothing. It contains its
 * data as JSON, compressed, and a script that shows it. Without scripts, a
 * browser shows a text instead.
 *
 * The content security policy allows this very script and style sheet, by
 * their hashes, and nothing else, so text of the target cannot become code,
 * even if the script had an error.
 */
struct rcore_html_page {
	const char *title; /* escaped by the page */
	const char *script, *script_hash;
	/* Each writes to a stream, with `context`. */
	struct rcore_error *(*write_text)(const void *context, FILE *out);
	struct rcore_error *(*write_data)(const void *context, FILE *out);
	const void *context;
	/* A longer text is cut, with a line that says so; 0: no limit. */
	size_t text_max;
};

/* Errors: OS, NO_MEMORY, and those of the functions. */
struct rcore_error *rcore_html_page_write(const struct rcore_html_page *page, FILE *out);

#endif
