/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_LOCATE_H
#define RCORE_SESSION_LOCATE_H

#include "session/layout/trial.h"

/*
 * The third step: finds the layout of the target's structs, and the address of
 * its VM.
 */

/*
 * Tries the layouts of layouts.h with each method of finding the VM, and
 * returns the first one that passes all proofs, otherwise the one that passes
 * most. Keeps a choice that passed all of them in search->choice, and tries it
 * first the next time. Errors: those of rcore_session_layouts(); CORRUPT if no
 * layout finds a VM, or if it is being freed; NO_LAYOUT on musl.
 */
struct rcore_error *rcore_session_locate(const struct rcore_search *search,
					 struct rcore_trial *ret);

#endif
