/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_KNOWN_SECRETS_H
#define RCORE_REDACT_KNOWN_SECRETS_H

#include "redact/secrets.h"

/*
 * Texts that once stood under a key, to be found wherever else they stand: in a
 * message, on a stack.
 */
struct rcore_known_secrets;

/* NULL: memory is short. */
struct rcore_known_secrets *rcore_known_secrets_new(void);
/* NULL-safe. */
void rcore_known_secrets_free(struct rcore_known_secrets *known);

/*
 * Learns a text: as it stands (what Ruby's inspect printed, without quotes),
 * what that is the inspect of, and both in UTF-16. Fewer than three bytes, and
 * what was taken out already, are not worth it. False: no memory.
 */
bool rcore_known_secrets_add(struct rcore_known_secrets *known, const char *text, size_t size);

/*
 * Where they stand in `text`: six bytes or more of them anywhere (of long ones
 * their beginning, for what is printed is cut off), shorter ones only as a
 * whole literal in double quotes.
 */
void rcore_known_secrets_find(const struct rcore_known_secrets *known, const char *text,
			      size_t size, struct rcore_spans *ret);

/* Is this one, as a whole? */
bool rcore_known_secrets_has(const struct rcore_known_secrets *known, const char *text,
			     size_t size);

#endif
