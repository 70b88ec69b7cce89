/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_FIT_H
#define RCORE_SESSION_FIT_H

#include "session/layout/layouts.h"
#include "session/layout/trial.h"

/*
 * Shifts fields of a layout until their checks pass. Starts with the nearest
 * release's layout if it fits except for some fields, otherwise with the first
 * of a few for which more proofs hold. Replaces *best if the result is better.
 * `now` is scratch space.
 */
void rcore_trial_fit(const struct rcore_search *search, const struct rcore_layouts *layouts,
		     struct rcore_trial *best, struct rcore_trial *now);

#endif
