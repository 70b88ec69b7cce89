/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_LOCATE_H
#define RCORE_SESSION_LOCATE_H

#include "session/trial.h"

/*
 * The third step: which layout do the target's structs have, and where is its
 * VM?
 */

/*
 * Tries the layouts of layouts.h with each way to the VM, and returns the first
 * for which all proofs hold, otherwise the one for which most do. A choice for
 * which all held is kept in search->choice and tried first the next time.
 * Errors: as rcore_session_layouts(); CORRUPT if no layout finds a VM;
 * NO_LAYOUT on musl.
 */
struct rcore_error *rcore_session_locate(const struct rcore_search *search,
					 struct rcore_trial *ret);

#endif
