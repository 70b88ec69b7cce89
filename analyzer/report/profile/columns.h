/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_COLUMNS_H
#define RCORE_REPORT_PROFILE_COLUMNS_H

#include <inttypes.h>
#include <stdio.h>

#include "report/profile/measures.h"

/* Columns of the tables in the text. */

static inline double rcore_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Writes an amount. */
static inline void rcore_column_amount(enum rcore_measure measure, uint64_t amount, FILE *out)
{
	if (rcore_measure_words[measure].is_time)
		fprintf(out, "%9.3f", (double)amount / 1e9);
	else
		fprintf(out, "%9" PRIu64, amount);
}

/* Writes by how much an amount has grown. `amounts` is indexed by side. */
static inline void rcore_column_change(enum rcore_measure measure, const uint64_t *amounts,
				       FILE *out)
{
	int64_t change = (int64_t)(amounts[RCORE_SIDE_NEW] - amounts[RCORE_SIDE_OLD]);
	if (rcore_measure_words[measure].is_time)
		fprintf(out, "%+9.3f ", (double)change / 1e9);
	else
		fprintf(out, "%+9" PRId64 " ", change);
}

#endif
