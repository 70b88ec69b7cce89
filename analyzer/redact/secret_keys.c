/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "base/count.h"
#include "redact/secret_chars.h"
#include "redact/secrets.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

bool rcore_secret_is_void(const char *text, size_t size)
{
	static const char *const voids[] = {"",      "nil",  "null", "true",
					    "false", "\"\"", "[]",   "{}"};
	for (size_t i = 0; i < RCORE_COUNT(voids); i++)
		if (strlen(voids[i]) == size && memcmp(voids[i], text, size) == 0)
			return true;
	return false;
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
			at = literal_end(text, size, at + 1, '"', 0);
		}
	}
	return at < size ? at : size;
}

static size_t bare_end(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] && !strchr(",;&)}]>\"'\\ \t\n\r", text[at]))
		at++;
	return at;
}

size_t rcore_secret_regexp_end(const char *text, size_t size, size_t at)
{
	size_t end = literal_end(text, size, at + 1, '/', 0);
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

/* How the value of a key is written. */
enum form { BARE, HEADER, LINE, ELEMENT };

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* Whether a literal begins there, in a String or not. */
static bool is_quoted(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] == '\\')
		at++;
	return at < size && is_quote(text[at]);
}

/* Returns the end of the value. */
static size_t take_value(const char *text, size_t size, size_t at, enum form form,
			 struct rcore_spans *ret)
{
	size_t escapes = 0, end;
	if (at >= size)
		return size;
	if (text[at] == ':' && is_quoted(text, size, at + 1))
		at++;
	while (at + escapes < size && text[at + escapes] == '\\')
		escapes++;
	size_t mark = at + escapes;
	if (mark >= size)
		return size;
	if (form == ELEMENT) {
		end = element_end(text, size, at);
	} else if (is_quote(text[mark])) {
		at = mark + 1;
		end = literal_end(text, size, at, text[mark], escapes);
	} else if (text[at] == '{' || text[at] == '[' ||
		   (text[at] == '#' && at + 1 < size && text[at + 1] == '<')) {
		end = bracket_end(text, size, text[at] == '#' ? at + 1 : at);
	} else if (text[at] == '/' && rcore_secret_regexp_end(text, size, at) > at) {
		end = rcore_secret_regexp_end(text, size, at);
		at++;
	} else {
		end = form == BARE ? bare_end(text, size, at) : header_end(text, size, at);
	}
	if (end > at && !rcore_secret_is_void(text + at, end - at))
		rcore_span_add(ret, at, end, RCORE_REDACTED_KEY);
	return end;
}

static size_t skip_all(const char *text, size_t size, size_t at, const char *what, size_t most)
{
	size_t from = at;
	while (at < size && at - from < most && text[at] && strchr(what, text[at]))
		at++;
	return at;
}

/* A name, and what is around it. */
struct key {
	const char *text;
	size_t size, start, end;
};

/*
 * Each returns the offset of the value of a key, or 0 if the key has none in
 * this form.
 */

/*
 * After =>, = or :, with blanks around it: `user[password]=x`, "token": 1. In
 * #<Token:0x1234> is an address.
 */
static size_t after_separator(const struct key *key)
{
	size_t at = key->end;
	if (begins(key->text, key->size, at, "]=") || begins(key->text, key->size, at, "%5D="))
		return at + strcspn(key->text + at, "=") + 1;
	at = skip_all(key->text, key->size, at, "\"'\\", 4);
	at = skip_all(key->text, key->size, at, " \t", key->size);
	size_t separator = at;
	if (at < key->size && key->text[at] == '=')
		at += begins(key->text, key->size, at, "=>") ? 2 : 1;
	else if (at < key->size && key->text[at] == ':' &&
		 !begins(key->text, key->size, at, "::"))
		at++;
	if (at == separator || begins(key->text, key->size, separator, ":0x"))
		return 0;
	return skip_all(key->text, key->size, at, " \t", key->size);
}

/* `--password x`. The next option is not its value. */
static size_t after_option(const struct key *key)
{
	size_t at = key->end + 1;
	bool is_option = begins(key->text, key->size, key->start, "--") && at < key->size &&
			 key->text[key->end] == ' ' && key->text[at] != '-' &&
			 key->text[at] != ' ';
	return is_option ? at : 0;
}

enum { LONGEST_TAG = 256 };

/* `<password>x</password>`, but not `#<Token>`. */
static size_t after_tag(const struct key *key)
{
	size_t start = key->start;
	while (start && (is_word(key->text[start - 1]) || key->text[start - 1] == ':'))
		start--;
	if (!start || key->text[start - 1] != '<' || (start > 1 && key->text[start - 2] == '#'))
		return 0;
	size_t left = key->size - key->end;
	const char *end =
		memchr(key->text + key->end, '>', left < LONGEST_TAG ? left : LONGEST_TAG);
	size_t at = end ? (size_t)(end - key->text) + 1 : 0;
	return at && key->text[at - 2] != '/' ? at : 0;
}

/* A pair in an Array, `["Authorization", "Token x"]` and `[:pin, "1"]`. */
static size_t in_pair(const struct key *key)
{
	size_t start = key->start, at = skip_all(key->text, key->size, key->end, "\"'\\", 4);
	while (start && key->text[start - 1] && strchr("\"'\\:", key->text[start - 1]))
		start--;
	if (!start || key->text[start - 1] != '[' || !begins(key->text, key->size, at, ", "))
		return 0;
	size_t value = at + 2, quote = skip_all(key->text, key->size, value, "\\", 4), end;
	if (quote >= key->size || !is_quote(key->text[quote]))
		return 0;
	end = literal_end(key->text, key->size, quote + 1, key->text[quote], quote - value);
	end = skip_all(key->text, key->size, end, "\"'\\", 4);
	return end >= key->size || key->text[end] == ']' ? value : 0;
}

/* `{"name": "DB_PASSWORD", "value": "x"}`, as in lists of variables. */
static size_t in_entry(const struct key *key)
{
	size_t at = skip_all(key->text, key->size, key->end, "\"'\\", 4);
	if (at == key->end || !begins(key->text, key->size, at, ","))
		return 0;
	at = skip_all(key->text, key->size, at, ", \"'\\:", 8);
	struct key value = {key->text, key->size, at, at + strlen("value")};
	return begins(key->text, key->size, at, "value") ? after_separator(&value) : 0;
}

/* A field of a form: `name="pin"`, an empty line, the value. */
static size_t in_form(const struct key *key)
{
	static const char *const gaps[] = {"\"\r\n\r\n", "\\\"\\r\\n\\r\\n", "\"\n\n"};
	for (size_t i = 0; i < RCORE_COUNT(gaps); i++)
		if (begins(key->text, key->size, key->end, gaps[i]))
			return key->end + strlen(gaps[i]);
	return 0;
}

static const struct {
	size_t (*value_of)(const struct key *key);
	enum form form;
} places[] = {
	{after_separator, BARE}, {after_option, BARE}, {after_tag, ELEMENT},
	{in_pair, BARE},         {in_entry, BARE},     {in_form, LINE},
};

/* Returns where the last of its values ends. */
static size_t take_values(const struct key *key, struct rcore_spans *ret)
{
	bool is_header = rcore_secret_is_header(key->text + key->start, key->end - key->start);
	size_t last = key->end;
	for (size_t i = 0; i < RCORE_COUNT(places); i++) {
		size_t at = places[i].value_of(key);
		enum form form = is_header && places[i].form == BARE ? HEADER : places[i].form;
		size_t end = at ? take_value(key->text, key->size, at, form, ret) : 0;
		last = end > last ? end : last;
	}
	return last;
}

void rcore_secret_keys(const char *text, size_t size, struct rcore_spans *ret)
{
	/*
	 * Keys inside a value are found too, for what is learned from them; but
	 * nested ones would take a time that is quadratic in a long text.
	 */
	enum { LONG = 4096 };
	for (size_t at = 0; at < size; at++) {
		struct key key = {text, size, at, at};
		while (key.end < size && is_word(text[key.end]))
			key.end++;
		if (key.end == at)
			continue;
		/* the "n" of "\n" and the "5B" of "%5B" are not of the name */
		if (at && text[at - 1] == '\\' && key.end - at > 1)
			key.start++;
		else if (at && text[at - 1] == '%' && begins(text, size, at, "5B"))
			key.start += 2;
		at = key.end;
		if (rcore_secret_is_key(text + key.start, key.end - key.start)) {
			size_t end = take_values(&key, ret);
			at = size > LONG ? end : at;
		}
	}
}
