/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_IDS_H
#define RCORE_MODEL_IDS_H

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Keeps the numbers of threads and fibers (the 3 of "T1.F3") from one load of a
 * process to the next. A thread or fiber that was seen before keeps its number,
 * and no other gets it. Pass it in rcore_options.ids.
 *
 * CRuby has no serial number of fibers before 4.0. Until then a fiber is known
 * by the addresses of its struct and object, and by its age. If both are reused
 * for another in the same state, rcore cannot distinguish the two.
 */
struct rcore_ids;

/* Returns a new, empty object, or NULL if memory is short. */
RCORE_API struct rcore_ids *rcore_ids_open(void);

/* Frees it. Close the sessions that use it first. Does nothing for NULL. */
RCORE_API void rcore_ids_close(struct rcore_ids *ids);

#ifdef __cplusplus
}
#endif

#endif
