/* SPDX-License-Identifier: MIT */
#ifndef STEPS_CHECKS_H
#define STEPS_CHECKS_H

#include "findings.h"

/*
 * Checks what must be true of each state by itself. `layout` is the name of the
 * one chosen first.
 */
void check_state(struct findings *findings, const struct rcore_snapshot *snapshot,
		 const char *layout);

/* No field of a right layout may be reported as wrong. */
void check_fields(struct findings *findings, const struct rcore_snapshot *snapshot);

#endif
