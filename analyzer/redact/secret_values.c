/* SPDX-License-Identifier: MIT */
#include "redact/secret_values.h"

#include <ctype.h>
#include <string.h>

#include "base/count.h"
#include "redact/secret_chars.h"

/* $1 and ? stand for a value in SQL. */
static bool is_placeholder(const char *text, size_t size)
{
	size_t digits = 0;
	while (1 + digits < size && is_digit(text[1 + digits]))
		digits++;
	return (size == 1 && text[0] == '?') ||
	       (size > 1 && size < 5 && text[0] == '$' && 1 + digits == size);
}

bool rcore_secret_is_void(const char *text, size_t size)
{
	static const char *const voids[] = {"",      "nil",  "null", "true",
					    "false", "\"\"", "[]",   "{}"};
	for (size_t i = 0; i < RCORE_COUNT(voids); i++)
		if (strlen(voids[i]) == size && memcmp(voids[i], text, size) == 0)
			return true;
	return is_placeholder(text, size);
}

static size_t backslashes_before(const char *text, size_t at, size_t from)
{
	size_t count = 0;
	while (at - count > from && text[at - count - 1] == '\\')
		count++;
	return count;
}

size_t rcore_secret_literal_end(const char *text, size_t size, size_t start, char quote,
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
	*ret_end = rcore_secret_literal_end(text, size, *ret_start, '"', 0);
	*at = *ret_end + 1;
	return true;
}

/*
 * Returns the offset after the bracket that closes the one at `at`. Skips what
 * is in quotes. Inside the inspect of a String, these have a backslash, and one
 * without ends the String.
 */
static size_t bracket_end(const char *text, size_t size, size_t at)
{
	size_t depth = 0, escapes = size;
	for (const size_t start = at; at < size; at++) {
		size_t count;
		switch (text[at]) {
		case '"':
			count = backslashes_before(text, at, start);
			if (escapes < size && count < escapes)
				return at - count;
			escapes = count;
			at = rcore_secret_literal_end(text, size, at + 1, '"', count) + count;
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

/*
 * The value of a header ends with its line or, inside a String, with the
 * String. `Digest username="bob", realm="x"` has quotes of its own.
 */
static size_t header_end(const char *text, size_t size, size_t at)
{
	for (; at < size && text[at] && text[at] != '\n' && text[at] != '\r'; at++) {
		if (text[at] == '\\' && at + 1 < size) {
			if (strchr("nr", text[at + 1]))
				break;
			at++;
		} else if (text[at] == '"') {
			if (text[at - 1] != '=')
				break;
			at = rcore_secret_literal_end(text, size, at + 1, '"', 0);
		}
	}
	return at < size ? at : size;
}

/* A backslash belongs to the value unless it escapes a quote or white space. */
static size_t bare_end(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] && !strchr(",;&)}]>\"' \t\n\r", text[at])) {
		if (text[at] == '\\') {
			if (at + 1 >= size || strchr("\"'nrt", text[at + 1]))
				break;
			at++;
		}
		at++;
	}
	return at;
}

size_t rcore_secret_regexp_end(const char *text, size_t size, size_t at)
{
	size_t end = rcore_secret_literal_end(text, size, at + 1, '/', 0);
	size_t after = end + 1;
	while (after < size && strchr("mixn", text[after]) && text[after])
		after++;
	return end < size && (after >= size || strchr(",;&)}]> \n\r", text[after])) ? end : at;
}

/* Returns the end of the text of an XML element. */
static size_t element_end(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] && !strchr("<\"\n", text[at]))
		at++;
	return at;
}

/* Whether a literal begins there, in a String or not. */
static bool is_quoted(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] == '\\')
		at++;
	return at < size && is_quote(text[at]);
}

/*
 * Returns whether a quote opens a literal. After `token=x`, it may close the
 * literal around that, as in `{"a"=>"token=x", "b"=>1}`.
 */
static bool opens(const char *text, size_t size, size_t at)
{
	return at + 1 < size && is_quote(text[at]) && text[at + 1] &&
	       !strchr(" ,;:=&)}]>\n\r\\", text[at + 1]);
}

/*
 * Skips what may stand before a literal: E'x' and U&'x' of SQL, b"x" of Python,
 * and two of three quotes.
 */
static size_t skip_prefix(const char *text, size_t size, size_t at)
{
	static const char *const prefixes[] = {"U&", "u&", "E", "e", "N", "n",
					       "B",  "b",  "X", "x", "U", "u"};
	static const char *const triples[] = {"\"\"\"", "\'\'\'", "\\\"\\\"\\\"",
					      "\\\\\\\"\\\\\\\"\\\\\\\""};
	for (size_t i = 0; i < RCORE_COUNT(prefixes); i++) {
		size_t after = at + strlen(prefixes[i]);
		if (begins(text, size, at, prefixes[i]) && opens(text, size, after))
			return after;
	}
	for (size_t i = 0; i < RCORE_COUNT(triples); i++)
		if (begins(text, size, at, triples[i]))
			return at + 2 * strlen(triples[i]) / 3;
	return at;
}

/* Returns where the value begins after a tag of YAML, or 0 if there is none. */
static size_t after_yaml_tag(const char *text, size_t size, size_t at)
{
	static const char *const tags[] = {"!!str ",  "!!binary ", "!!int ", "!!float ",
					   "!!bool ", "!!seq ",    "!!map ", "!!set ",
					   "!!omap ", "!!null ",   "!ruby/"};
	enum { LONGEST_CLASS = 128 };
	size_t tag = 0;
	while (tag < RCORE_COUNT(tags) && !begins(text, size, at, tags[tag]))
		tag++;
	if (tag == RCORE_COUNT(tags))
		return 0;
	size_t start = at += strlen(tags[tag]);
	if (text[at - 1] == ' ')
		return at;
	/* The name of a class: `!ruby/object:Foo::Bar`. */
	while (at < size && at - start < LONGEST_CLASS &&
	       (isalnum((unsigned char)text[at]) || strchr(":/_-", text[at])) && text[at])
		at++;
	return at < size && text[at] == ' ' ? at + 1 : 0;
}

size_t rcore_secret_take_value(const char *text, size_t size, size_t at,
			       enum rcore_secret_form form, struct rcore_spans *ret)
{
	size_t escapes = 0, end;
	if (at >= size)
		return size;
	if (text[at] == ':' && is_quoted(text, size, at + 1))
		at++;
	if (form == RCORE_SECRET_BARE) {
		size_t tagged = after_yaml_tag(text, size, at);
		at = skip_prefix(text, size, tagged ? tagged : at);
	}
	while (at + escapes < size && text[at + escapes] == '\\')
		escapes++;
	size_t mark = at + escapes;
	if (mark >= size)
		return size;
	if (form == RCORE_SECRET_ELEMENT) {
		end = element_end(text, size, at);
	} else if (is_quote(text[mark])) {
		at = mark + 1;
		end = rcore_secret_literal_end(text, size, at, text[mark], escapes);
	} else if (text[at] == '{' || text[at] == '[' ||
		   (text[at] == '#' && at + 1 < size && text[at + 1] == '<')) {
		end = bracket_end(text, size, text[at] == '#' ? at + 1 : at);
	} else if (text[at] == '/' && rcore_secret_regexp_end(text, size, at) > at) {
		end = rcore_secret_regexp_end(text, size, at);
		at++;
	} else {
		end = form == RCORE_SECRET_BARE ? bare_end(text, size, at)
						: header_end(text, size, at);
	}
	if (end > at && !rcore_secret_is_void(text + at, end - at))
		rcore_span_add(ret, at, end, RCORE_REDACTED_KEY);
	return end;
}
