/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_SEARCH_H
#define RCORE_SESSION_PACK_SEARCH_H

#include "redact/known_secrets.h"
#include "redact/redact.h"
#include "target/output/output.h"
#include "target/pack/recorder.h"

/*
 * Searches a pack that was written to `output` for the secrets that it must not
 * contain: what `redactor` recognizes or has learned, and `taken`. Names and
 * paths of code may contain them, as in a report. Errors: CORRUPT if one is
 * left, OS, NO_MEMORY.
 */
struct rcore_error *rcore_pack_search(const struct rcore_output *output,
				      struct rcore_recorder *recorder,
				      const struct rcore_redactor *redactor,
				      struct rcore_known_secrets *taken,
				      enum rcore_redact mode);

#endif
