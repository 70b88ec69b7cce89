/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_SECRETS_H
#define RCORE_REDACT_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/redaction.h"

/*
 * Finds what looks like a credential in a text. The text may be the output of
 * Ruby's inspect, a message, a command line, or bytes of memory. To add a
 * pattern or a key, add a line to the tables of secret_tokens.c and
 * secret_names.c.
 */
struct rcore_span {
	size_t start, end; /* of the part to remove */
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
 * Sorts the spans and merges those that overlap, which keep the kind of the
 * first.
 */
void rcore_spans_settle(struct rcore_spans *spans);

/*
 * Finds tokens with a known prefix and PEM blocks: text that does not occur by
 * chance, even in binary data.
 */
void rcore_secret_tokens(const char *text, size_t size, struct rcore_spans *ret);

/* Of these, the literals that are passwords in SQL. */
void rcore_secret_sql(const char *text, size_t size, struct rcore_spans *ret);

/*
 * Finds these, and what occurs only in text: e-mail addresses, users of URLs,
 * card numbers, random characters.
 */
void rcore_secret_patterns(const char *text, size_t size, struct rcore_spans *ret);

/* Whether it names a credential: "db_password", "apiKey", "--token". */
bool rcore_secret_is_key(const char *name, size_t size);

/* Whether two words together name one: "pass phrase", "master.key". */
bool rcore_secret_is_pair(const char *first, size_t first_size, const char *second,
			  size_t second_size);

/* Whether it names an HTTP header whose value takes the rest of its line. */
bool rcore_secret_is_header(const char *name, size_t size);

/*
 * Finds the values after such a key: password: "x", "token"=>[...],
 * @api_key=..., --secret=x, {"pin":1}; in pairs of Arrays, XML elements, fields
 * of forms.
 */
void rcore_secret_keys(const char *text, size_t size, struct rcore_spans *ret);

/* Whether it is nil, true, false or empty, which is never secret. */
bool rcore_secret_is_void(const char *text, size_t size);

/*
 * Finds the contents of the next literal in double quotes from *at on, and
 * moves *at past it. A literal without a closing quote ends with the text.
 */
bool rcore_next_quoted(const char *text, size_t size, size_t *at, size_t *ret_start,
		       size_t *ret_end);

/*
 * Returns the end of what is between the slashes of the Regexp that begins at
 * `at`, or `at` if it is a path or another text.
 */
size_t rcore_secret_regexp_end(const char *text, size_t size, size_t at);

#endif
