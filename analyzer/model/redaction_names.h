/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_REDACTION_NAMES_H
#define RCORE_MODEL_REDACTION_NAMES_H

#include <stdint.h>

#include "model/redaction.h"

/*
 * The values of --redact ("secrets"), in the order of the enum; ends with NULL.
 */
extern const char *const rcore_redact_names[];

/* Returns a constant name for JSON, such as "userinfo". */
const char *rcore_redacted_name(enum rcore_redacted kind);

/* Returns words for people to follow a count, such as "users of URLs". */
const char *rcore_redacted_text(enum rcore_redacted kind, uint64_t count);

#endif
