/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_KNOWN_SECRETS_H
#define RCORE_REDACT_KNOWN_SECRETS_H

#include "redact/secrets.h"

/*
 * Texts that were values of secret keys. rcore also removes them elsewhere: in
 * a message, on a stack.
 */
struct rcore_known_secrets;

/* Returns NULL if memory is short. */
struct rcore_known_secrets *rcore_known_secrets_new(void);
/* Does nothing for NULL. */
void rcore_known_secrets_free(struct rcore_known_secrets *known);

/*
 * Adds a text: as it is (the output of inspect, without quotes), the String
 * that has this inspect, and both in UTF-16. Ignores texts of fewer than three
 * bytes, and those that were already removed. Returns false if memory is short.
 */
bool rcore_known_secrets_add(struct rcore_known_secrets *known, const char *text, size_t size);

/* Adds all of `others`. Returns false if memory is short. */
bool rcore_known_secrets_join(struct rcore_known_secrets *known,
			      const struct rcore_known_secrets *others);

/*
 * Finds them in `text`. Those of six bytes or more are found anywhere (the
 * beginning of a long one is enough, because printed text is truncated),
 * shorter ones only as a complete literal in double quotes.
 */
void rcore_known_secrets_find(struct rcore_known_secrets *known, const char *text, size_t size,
			      struct rcore_spans *ret);

/* Returns whether the complete text is one of them. */
bool rcore_known_secrets_has(const struct rcore_known_secrets *known, const char *text,
			     size_t size);

#endif
