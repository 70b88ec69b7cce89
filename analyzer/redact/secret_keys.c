/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/count.h"
#include "redact/secrets.h"

/*
 * One word of a name, or two consecutive ones: "api_key", "apiKey", "API-KEY".
 */
static const char *const credentials[] = {
	"password",      "passwd",        "passphrase", "passcode",   "pwd",
	"secret",        "secrets",       "token",      "tokens",     "apikey",
	"accesskey",     "privatekey",    "secretkey",  "signingkey", "masterkey",
	"encryptionkey", "authorization", "cookie",     "cookies",    "credential",
	"credentials",   "csrf",          "cvv",        "cvc",        "pin",
	"ssn",           "otp",           "sessionid",  "cardnumber", "connectionstring",
	"bearer",
};

/*
 * If a name ends with one of these, it describes a credential, but is not one.
 */
static const char *const harmless[] = {
	"count",   "size", "length", "limit", "type",    "kind",     "ttl",   "expiry",
	"expires", "at",   "in",     "valid", "present", "required", "field", "path",
	"file",    "url",  "class",  "name",  "id",      "index",
};

/* HTTP headers, whose value continues to the end of the line. */
static const char *const headers[] = {"authorization", "cookie"};

enum { LONGEST_NAME = 64 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool is_in(const char *const *list, size_t count, const char *word, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == size && strncasecmp(list[i], word, size) == 0)
			return true;
	return false;
}
#define IS_IN(list, word, size) is_in(list, RCORE_COUNT(list), word, size)

/*
 * The word at `at` ends before a separator, or before a capital letter that
 * follows a small one.
 */
static size_t word_end(const char *name, size_t size, size_t at)
{
	size_t end = at;
	while (end < size && isalnum((unsigned char)name[end]) &&
	       !(end > at && isupper((unsigned char)name[end]) &&
		 islower((unsigned char)name[end - 1])))
		end++;
	return end;
}

bool rcore_secret_is_key(const char *name, size_t size)
{
	char two[2 * LONGEST_NAME];
	size_t before = 0, before_size = 0;
	bool found = false;
	if (size > LONGEST_NAME)
		return false;
	for (size_t at = 0; at < size;) {
		size_t end = word_end(name, size, at);
		if (end == at) {
			at++;
			continue;
		}
		memcpy(two, name + before, before_size);
		memcpy(two + before_size, name + at, end - at);
		if (IS_IN(credentials, name + at, end - at) ||
		    IS_IN(credentials, two, before_size + end - at))
			found = true;
		else if (IS_IN(harmless, name + at, end - at))
			found = false;
		before = at;
		before_size = end - at;
		at = end;
	}
	return found;
}

bool rcore_secret_is_void(const char *text, size_t size)
{
	static const char *const voids[] = {"",      "nil",  "null", "true",
					    "false", "\"\"", "[]",   "{}"};
	return IS_IN(voids, text, size);
}

static size_t backslashes_before(const char *text, size_t at, size_t from)
{
	size_t count = 0;
	while (at - count > from && text[at - count - 1] == '\\')
		count++;
	return count;
}

/*
 * Returns the end of the literal whose contents begin at `start`. `escapes` is
 * the number of backslashes before its quote.
 */
static size_t literal_end(const char *text, size_t size, size_t start, char quote,
			  size_t escapes)
{
	for (size_t at = start; at < size; at++) {
		if (text[at] != quote)
			continue;
		size_t count = backslashes_before(text, at, start);
		if (escapes ? count == escapes : count % 2 == 0)
			return at - (escapes ? count : 0);
	}
	return size;
}

bool rcore_next_quoted(const char *text, size_t size, size_t *at, size_t *ret_start,
		       size_t *ret_end)
{
	const char *quote = *at < size ? memchr(text + *at, '"', size - *at) : NULL;
	if (!quote)
		return false;
	*ret_start = (size_t)(quote - text) + 1;
	*ret_end = literal_end(text, size, *ret_start, '"', 0);
	*at = *ret_end + 1;
	return true;
}

/*
 * Returns the offset after the bracket that closes the one at `at`. Skips what
 * is in quotes.
 */
static size_t bracket_end(const char *text, size_t size, size_t at)
{
	size_t depth = 0;
	for (; at < size; at++) {
		switch (text[at]) {
		case '"':
			at = literal_end(text, size, at + 1, '"', 0);
			break;
		case '{':
		case '[':
		case '<':
			depth++;
			break;
		case '>':
			if (text[at - 1] == '=')
				break;
			/* fall through */
		case '}':
		case ']':
			if (--depth == 0)
				return at + 1;
			break;
		default:
			break;
		}
	}
	return size;
}

static size_t bare_end(const char *text, size_t size, size_t at, bool is_header)
{
	const char *stops = is_header ? "\"\n\r" : ",;&)}]>\"'\\ \t\n\r";
	while (at < size && text[at] && !strchr(stops, text[at]) &&
	       !(text[at] == '\\' && at + 1 < size && strchr("nr\"", text[at + 1])))
		at++;
	return at;
}

static void take_value(const char *text, size_t size, size_t at, bool is_header,
		       struct rcore_spans *ret)
{
	size_t escapes = 0, end;
	while (at + escapes < size && text[at + escapes] == '\\')
		escapes++;
	size_t mark = at + escapes;
	if (mark >= size)
		return;
	if (text[mark] == '"' || text[mark] == '\'') {
		at = mark + 1;
		end = literal_end(text, size, at, text[mark], escapes);
	} else if (text[at] == '{' || text[at] == '[' ||
		   (text[at] == '#' && at + 1 < size && text[at + 1] == '<')) {
		end = bracket_end(text, size, text[at] == '#' ? at + 1 : at);
	} else {
		end = bare_end(text, size, at, is_header);
	}
	if (end > at && !rcore_secret_is_void(text + at, end - at))
		rcore_span_add(ret, at, end, RCORE_REDACTED_KEY);
}

/*
 * Returns the offset after =>, = or :, with blanks around it; `at` if there is
 * none.
 */
static size_t skip_separator(const char *text, size_t size, size_t at)
{
	size_t from = at;
	while (at < size && at - from < 4 && strchr("\"'\\", text[at]) && text[at])
		at++;
	while (at < size && text[at] == ' ')
		at++;
	size_t separator = at;
	if (at < size && text[at] == '=')
		at += at + 1 < size && text[at + 1] == '>' ? 2 : 1;
	else if (at < size && text[at] == ':' && !(at + 1 < size && text[at + 1] == ':'))
		at++;
	if (at == separator)
		return from;
	while (at < size && text[at] == ' ')
		at++;
	return at;
}

void rcore_secret_keys(const char *text, size_t size, struct rcore_spans *ret)
{
	for (size_t at = 0; at < size; at++) {
		size_t end = at;
		while (end < size && is_word(text[end]))
			end++;
		if (end == at)
			continue;
		/* the "n" of "\n" is not part of the name after it */
		size_t name = at && text[at - 1] == '\\' && end - at > 1 ? at + 1 : at;
		size_t value = skip_separator(text, size, end);
		if (value != end && rcore_secret_is_key(text + name, end - name))
			take_value(text, size, value, IS_IN(headers, text + name, end - name),
				   ret);
		at = end;
	}
}
