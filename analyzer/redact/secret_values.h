/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_SECRET_VALUES_H
#define RCORE_REDACT_SECRET_VALUES_H

#include "redact/secrets.h"

/* Finds where the value of a key ends. secret_keys.c finds where it begins. */

enum rcore_secret_form {
	RCORE_SECRET_BARE, /* a literal, what is in brackets, or a word */
	/* the rest of the line, but a literal ends before that */
	RCORE_SECRET_HEADER,
	RCORE_SECRET_LINE,
	RCORE_SECRET_ELEMENT, /* of XML */
};

/* Adds the value at `at`, and returns its end. */
size_t rcore_secret_take_value(const char *text, size_t size, size_t at,
			       enum rcore_secret_form form, struct rcore_spans *ret);

/*
 * Returns the end of the literal whose contents begin at `start`. `escapes` is
 * the number of backslashes before its quote.
 */
size_t rcore_secret_literal_end(const char *text, size_t size, size_t start, char quote,
				size_t escapes);

static inline bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

#endif
