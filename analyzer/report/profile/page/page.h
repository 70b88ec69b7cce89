/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_PAGE_H
#define RCORE_REPORT_PROFILE_PAGE_H

#include "report/json/json_writer.h"
#include "report/profile/numbering.h"
#include "report/profile/profile_report.h"

/*
 * report/profile/page/ writes the page for browsers: its data, and the scripts
 * that show them. It includes what report/profile/ may include. All of the data
 * is bounded, whatever was recorded: what does not fit is summed up, and
 * counted. page.c puts the parts together.
 */
enum {
	RCORE_PAGE_FRAMES = 3000, /* of the flame graph: the widest */
	/* By time of their own, and as many by total time. */
	RCORE_PAGE_METHODS = 500,
	RCORE_PAGE_PROCESSES = 200,
	RCORE_PAGE_THREADS = 200, /* the busiest */
	RCORE_PAGE_BINS = 240,    /* parts of the time of a thread */
	RCORE_PAGE_KEYS = 12,     /* of labels */
	RCORE_PAGE_VALUES = 40,   /* of a key */
	/* Values of which methods are listed, and how many. */
	RCORE_PAGE_DETAILED = 60,
	RCORE_PAGE_LABEL_METHODS = 10,
	RCORE_PAGE_TEXT_MAX = 240, /* bytes of a name */
};

struct rcore_page_writer {
	const struct rcore_profile_report *report;
	struct rcore_json json;
	/* The functions that the page names, numbered as it does. */
	struct rcore_numbering functions;
};

/* Writes text of at most RCORE_PAGE_TEXT_MAX bytes, the last being "...". */
struct json_object *rcore_page_text(struct rcore_page_writer *writer, const char *text);

/* Returns the page's number of a function. */
uint32_t rcore_page_function(struct rcore_page_writer *writer, uint32_t function);

/* Write a member of the page's data. Error: NO_MEMORY. */
struct rcore_error *rcore_page_put_processes(struct rcore_page_writer *writer);
struct rcore_error *rcore_page_put_threads(struct rcore_page_writer *writer);
struct rcore_error *rcore_page_put_labels(struct rcore_page_writer *writer);

#endif
