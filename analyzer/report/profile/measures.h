/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_MEASURES_H
#define RCORE_REPORT_PROFILE_MEASURES_H

#include "profile/tree.h"

/* How outputs name an amount. */
struct rcore_measure_words {
	const char *title; /* in text: "wall time" */
	const char *name;  /* one word, for callgrind */
};

/* By enum rcore_measure. */
extern const struct rcore_measure_words rcore_measure_words[];

#endif
