/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_RECORD_SUMMARY_H
#define RCORE_CLI_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "sampler/sampling.h"

/* What the summaries of `rcore record` on standard error are made from. */
struct rcore_record_summary {
	const struct rcore_sampling_summary *summary;
	size_t rate;      /* as requested */
	bool is_terminal; /* progress was shown */
	bool is_off_cpu, is_calls, is_native;
};

/* Prints the line that is replaced each second. */
void rcore_record_progress(const struct rcore_record_summary *shown);
/* Prints the last line. */
void rcore_record_end(const struct rcore_record_summary *shown);

#endif
