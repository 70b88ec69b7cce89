/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_FIT_H
#define RCORE_SESSION_FIT_H

#include "session/layouts.h"
#include "session/trial.h"

/*
 * Shifts fields of a layout until their checks pass: of the nearest release's
 * if it holds except for some fields, otherwise of the first of a few with
 * which more proofs hold. Replaces *best if that is better. `now` is scratch
 * space.
 */
void rcore_trial_fit(const struct rcore_search *search, const struct rcore_layouts *layouts,
		     struct rcore_trial *best, struct rcore_trial *now);

#endif
