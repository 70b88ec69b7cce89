/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_RECORD_SUMMARY_H
#define RCORE_CLI_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/start.h"
#include "sampler/sampling.h"

/* What the summaries of `rcore record` on standard error are made from. */
struct rcore_record_summary {
	const struct rcore_sampling_summary *summary;
	size_t rate;      /* as requested */
	bool is_terminal; /* progress was shown */
	bool is_off_cpu, is_calls, is_native;
	bool is_functions; /* with is_calls: not system calls */
	/* A table follows, which has the notes on its times. */
	bool has_table;
	/* NULL: rcore did not start the program. */
	const struct rcore_started *started;
};

/* Ruby processes that --system could not sample. All zeroes is empty. */
struct rcore_left_out {
	size_t count;
	char text[1024]; /* names the first ones, each with the reason */
	size_t named;
};

/* `title` may be NULL. */
void rcore_left_out_add(struct rcore_left_out *left_out, int pid, const char *title,
			const char *why);
/* Prints a line, unless there are none. */
void rcore_left_out_print(const struct rcore_left_out *left_out);

/* Prints the line that is replaced each second. */
void rcore_record_progress(const struct rcore_record_summary *shown);
/*
 * Writes what became of the process or the program, if anything did: "; the
 * process ended".
 */
void rcore_record_write_end(const struct rcore_record_summary *shown, FILE *out);
/* Prints the last line. */
void rcore_record_end(const struct rcore_record_summary *shown);

#endif
