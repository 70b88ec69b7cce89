/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_FACTS_H
#define RCORE_REPORT_PROFILE_FACTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format.h"
#include "profile/recording.h"

/* Returns NULL if there is no such fact. */
static inline const char *rcore_facts_find(const struct rcore_recording_facts *facts,
					   const char *key)
{
	for (size_t i = 0; i < facts->count; i++)
		if (strcmp(facts->items[i].key, key) == 0)
			return facts->items[i].value;
	return NULL;
}

/*
 * Returns whose wall time a recording has. Only the BPF program leaves out
 * threads that do not run.
 */
static inline const char *rcore_facts_whose(const struct rcore_recording_facts *facts)
{
	const char *engine = rcore_facts_find(facts, "engine");
	return engine && strcmp(engine, RCORE_ENGINE_RUNNING) == 0
		       ? "threads while they ran"
		       : "all threads and parked fibers";
}

/*
 * Returns whether the recording includes threads that wait, such as for the
 * GVL.
 */
static inline bool rcore_facts_has_waits(const struct rcore_recording_facts *facts)
{
	const char *engine = rcore_facts_find(facts, "engine");
	return !engine ||
	       strncmp(engine, RCORE_ENGINE_RUNNING, strlen(RCORE_ENGINE_RUNNING)) != 0;
}

/*
 * Returns the seconds since 1970 at which it began; 0: unknown. As nanoseconds,
 * they fit 64 bits: it was before the year 2262.
 */
static inline double rcore_facts_started(const struct rcore_recording_facts *facts)
{
	const char *text = rcore_facts_find(facts, "started");
	double started = text ? strtod(text, NULL) : 0;
	return started > 0 && started < (double)INT64_MAX / 1e9 ? started : 0;
}

#endif
