/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_SECRETS_H
#define RCORE_REDACT_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/redaction.h"

/*
 * What in a text smells of credentials. The text may be what Ruby's inspect
 * prints, a message, a command line, or bytes of memory. To add a pattern or a
 * key: its line in the tables of secret_patterns.c and secret_keys.c.
 */
struct rcore_span {
	size_t start, end; /* of the part to take out */
	enum rcore_redacted kind;
};

struct rcore_spans {
	struct rcore_span *items;
	size_t count, capacity;
	bool no_memory;
};

void rcore_span_add(struct rcore_spans *spans, size_t start, size_t end,
		    enum rcore_redacted kind);
void rcore_spans_deinit(struct rcore_spans *spans);

/*
 * In order, none within or over another: of two that meet, the first has its
 * kind kept.
 */
void rcore_spans_settle(struct rcore_spans *spans);

/*
 * Tokens with a known prefix, PEM blocks: what is no accident even in bytes
 * that are no text.
 */
void rcore_secret_tokens(const char *text, size_t size, struct rcore_spans *ret);

/*
 * These and what only text has: e-mail, users of URLs, card numbers, random
 * characters.
 */
void rcore_secret_patterns(const char *text, size_t size, struct rcore_spans *ret);

/* Does it name a credential: "db_password", "apiKey", "--token"? */
bool rcore_secret_is_key(const char *name, size_t size);

/*
 * Values that stand behind such a key: password: "x", "token"=>[...],
 * @api_key=..., --secret=x, {"pin":1}.
 */
void rcore_secret_keys(const char *text, size_t size, struct rcore_spans *ret);

/* nil, true, false, nothing: no secret whatever it stands under. */
bool rcore_secret_is_void(const char *text, size_t size);

/*
 * The next literal in double quotes from *at on, its contents; moves *at behind
 * it. An open one ends with the text.
 */
bool rcore_next_quoted(const char *text, size_t size, size_t *at, size_t *ret_start,
		       size_t *ret_end);

#endif
