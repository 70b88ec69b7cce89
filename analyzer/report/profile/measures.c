/* SPDX-License-Identifier: MIT */
#include "report/profile/measures.h"

#include <inttypes.h>

const struct rcore_measure_words rcore_measure_words[] = {
	[RCORE_MEASURE_WALL] = {"wall time", "Wall", "nanoseconds", true},
	[RCORE_MEASURE_CPU] = {"CPU time", "Cpu", "nanoseconds", true},
	[RCORE_MEASURE_OFF_CPU] = {"off-CPU time", "OffCpu", "nanoseconds", true},
	[RCORE_MEASURE_CALLS] = {"calls", "Calls", "none", false},
	[RCORE_MEASURE_BYTES] = {"bytes", "Bytes", "bytes", false},
};

void rcore_measure_write(enum rcore_measure measure, uint64_t amount, FILE *out)
{
	const struct rcore_measure_words *words = &rcore_measure_words[measure];
	if (words->is_time)
		fprintf(out, "%.3f s", (double)amount / 1e9);
	else
		fprintf(out, "%" PRIu64 " %s", amount, words->title);
}

void rcore_measure_write_change(enum rcore_measure measure, int64_t change, FILE *out)
{
	const struct rcore_measure_words *words = &rcore_measure_words[measure];
	if (words->is_time)
		fprintf(out, "%+.3f s", (double)change / 1e9);
	else
		fprintf(out, "%+" PRId64 " %s", change, words->title);
}
