/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_SECRET_CHARS_H
#define RCORE_REDACT_SECRET_CHARS_H

#include <stdbool.h>
#include <string.h>

/* Questions about the characters of a text, the same in every locale. */

static inline bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_one_of(char c, const char *others)
{
	return c && strchr(others, c);
}

static inline size_t run_of(const char *text, size_t size, size_t at, const char *others)
{
	size_t end = at;
	while (end < size && (is_alnum(text[end]) || is_one_of(text[end], others)))
		end++;
	return end - at;
}

static inline bool begins(const char *text, size_t size, size_t at, const char *prefix)
{
	size_t length = strlen(prefix);
	return at <= size && length <= size - at && memcmp(text + at, prefix, length) == 0;
}

static inline bool is_inside_word(const char *text, size_t at)
{
	return at && is_alnum(text[at - 1]);
}

#endif
