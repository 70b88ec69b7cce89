/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_DOCTOR_H
#define RCORE_SESSION_HEAP_DOCTOR_H

#include "model/heap/heap_doctor.h"
#include "rcore.h"

/*
 * Compares what is reachable with what the collector marked. With `with_rules`,
 * also finds what each type of object contributes. The caller frees *ret.
 */
struct rcore_error *rcore_heap_doctor(struct rcore_session *session, bool with_rules,
				      struct rcore_heap_doctor **ret);
void rcore_heap_doctor_free(struct rcore_heap_doctor *doctor); /* NULL-safe */

#endif
