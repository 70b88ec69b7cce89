/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_MEASURES_H
#define RCORE_REPORT_PROFILE_MEASURES_H

#include <stdio.h>

#include "profile/tree.h"

/* How outputs name an amount. */
struct rcore_measure_words {
	const char *title; /* in text: "wall time" */
	const char *name;  /* one word, for callgrind */
	const char *unit;  /* of speedscope: "nanoseconds", "bytes", "none" */
	bool is_time;
};

/* Indexed by enum rcore_measure. */
extern const struct rcore_measure_words rcore_measure_words[];

/* Writes an amount with its unit: "1.234 s", "12 calls". */
void rcore_measure_write(enum rcore_measure measure, uint64_t amount, FILE *out);
/* Writes a difference of two amounts, with its sign. */
void rcore_measure_write_change(enum rcore_measure measure, int64_t change, FILE *out);

#endif
