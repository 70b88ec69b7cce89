/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_FACTS_H
#define RCORE_REPORT_PROFILE_FACTS_H

#include <string.h>

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

#endif
