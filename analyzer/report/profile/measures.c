/* SPDX-License-Identifier: MIT */
#include "report/profile/measures.h"

const struct rcore_measure_words rcore_measure_words[] = {
	[RCORE_MEASURE_WALL] = {"wall time", "Wall"},
	[RCORE_MEASURE_CPU] = {"CPU time", "Cpu"},
	[RCORE_MEASURE_OFF_CPU] = {"off-CPU time", "OffCpu"},
};
