/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "base/count.h"
#include "redact/secret_chars.h"
#include "redact/secret_values.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
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

/* Skips blanks. In the inspect of a String, a tab is `\t`. */
static size_t skip_blanks(const struct key *key, size_t at)
{
	for (;;) {
		if (begins(key->text, key->size, at, "\\t"))
			at += 2;
		else if (at < key->size && (key->text[at] == ' ' || key->text[at] == '\t'))
			at++;
		else
			return at;
	}
}

/* Returns the end of the first of the texts that begins there, or `at`. */
static size_t skip_one(const struct key *key, size_t at, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins(key->text, key->size, at, texts[i]))
			return at + strlen(texts[i]);
	return at;
}
#define SKIP_ONE(key, at, texts) skip_one(key, at, texts, RCORE_COUNT(texts))

/* Skips quotes, with backslashes or not. "\t" and "\n" are no quotes. */
static size_t skip_quotes(const struct key *key, size_t at)
{
	size_t most = at + 4;
	while (at < most && at < key->size && is_one_of(key->text[at], "\"'`\\") &&
	       !(key->text[at] == '\\' && at + 1 < key->size &&
		 is_one_of(key->text[at + 1], "nrt")))
		at++;
	return at;
}

/*
 * Skips what ends a name: quotes, the bracket in `user[password]`, the index in
 * `password[]` and `password[0]`.
 */
static size_t skip_name_end(const struct key *key)
{
	static const char *const quotes[] = {"%22", "&quot;", "%2522"};
	static const char *const brackets[] = {"]", "%5D", "%5d", "%255D"};
	static const char *const indexes[] = {"[]", "[0]", "[1]", "%5B%5D", "%5B0%5D"};
	size_t at = SKIP_ONE(key, skip_quotes(key, key->end), quotes);
	at = SKIP_ONE(key, at, brackets);
	return SKIP_ONE(key, at, indexes);
}

/*
 * After =>, = or :, with blanks around it: `user[password]=x`, "token": 1. But
 * #<Token:0x1234> has an address there, and :: joins names.
 */
static size_t separated(const struct key *key)
{
	static const char *const none[] = {"::", ":0x"};
	static const char *const separators[] = {
		"=>",  "||=", ":=",  "==",     "!=",    "->",     "=",     ":",     "%3D",
		"%3d", "%3A", "%3a", "\u2192", "&#61;", "&#x3D;", "%253D", "%253d", "%253A"};
	size_t at = skip_blanks(key, skip_name_end(key));
	if (SKIP_ONE(key, at, none) > at)
		return 0;
	size_t after = SKIP_ONE(key, at, separators);
	return after > at ? skip_blanks(key, after) : 0;
}

/* A block of YAML: `password: |`, and the value in the next line. */
static size_t in_block(const struct key *key)
{
	static const char *const lines[] = {"\n", "\\n"};
	size_t at = separated(key);
	if (!at || at >= key->size || !is_one_of(key->text[at], "|>"))
		return 0;
	at = skip_all(key->text, key->size, at + 1, "+-", 1);
	for (size_t i = 0; i < RCORE_COUNT(lines); i++)
		if (begins(key->text, key->size, at, lines[i]))
			return skip_blanks(key, at + strlen(lines[i]));
	return 0;
}

static size_t after_separator(const struct key *key)
{
	return in_block(key) ? 0 : separated(key);
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

/* Skips blanks and ends of lines before `at`, also of an inspected String. */
static size_t back_over_space(const char *text, size_t at)
{
	for (;;) {
		if (at > 1 && text[at - 2] == '\\' && is_one_of(text[at - 1], "nrt"))
			at -= 2;
		else if (at && is_one_of(text[at - 1], " \t\r\n"))
			at--;
		else
			return at;
	}
}

static bool ends_with(const char *text, size_t end, const char *word)
{
	size_t length = strlen(word);
	return end >= length && !memcmp(text + end - length, word, length);
}

/* .netrc: `login bob password x`, in a line or in three. */
static size_t after_login(const struct key *key)
{
	enum { LONGEST_LOGIN = 64 };
	size_t end = back_over_space(key->text, key->start), start = end;
	if (end == key->start || !begins(key->text, key->size, key->end, " "))
		return 0;
	while (start && (unsigned char)key->text[start - 1] > ' ' &&
	       end - start < LONGEST_LOGIN)
		start--;
	return ends_with(key->text, back_over_space(key->text, start), "login") ? key->end + 1
										: 0;
}

/* A variable that a command sets, and a directive: `ENV DB_PASSWORD x`. */
static size_t after_command(const struct key *key)
{
	static const char *const commands[] = {"ENV ", "ARG ", "SetEnv ", "setenv ", "export "};
	static const char *const directives[] = {"requirepass ", "masterauth "};
	struct key begin = {key->text, key->size, key->start, key->start};
	bool is_set = SKIP_ONE(&begin, key->start, directives) > key->start;
	for (size_t i = 0; i < RCORE_COUNT(commands) && !is_set; i++)
		is_set = ends_with(key->text, key->start, commands[i]);
	return is_set && begins(key->text, key->size, key->end, " ") ? key->end + 1 : 0;
}

enum { LONGEST_TAG = 256 };

/* `<password>x</password>`, but not `#<Token>`. */
static size_t after_tag(const struct key *key)
{
	size_t start = key->start;
	while (start && key->start - start < LONGEST_TAG &&
	       (is_word(key->text[start - 1]) || key->text[start - 1] == ':'))
		start--;
	if (!start || key->text[start - 1] != '<' || (start > 1 && key->text[start - 2] == '#'))
		return 0;
	size_t left = key->size - key->end;
	const char *end =
		memchr(key->text + key->end, '>', left < LONGEST_TAG ? left : LONGEST_TAG);
	size_t at = end ? (size_t)(end - key->text) + 1 : 0;
	return at && key->text[at - 2] != '/' ? at : 0;
}

/*
 * A pair in an Array, `["Authorization", "Token x"]` and `[:pin, "1"]`. After a
 * Symbol, there may be more: `[:user, "bob", :pin, "1"]`.
 */
static size_t in_pair(const struct key *key)
{
	size_t start = key->start, at = skip_all(key->text, key->size, key->end, "\"'\\", 4);
	while (start && key->text[start - 1] && strchr("\"'\\:", key->text[start - 1]))
		start--;
	bool is_first = start && is_one_of(key->text[start - 1], "[(");
	bool is_symbol = key->start && key->text[key->start - 1] == ':' && at == key->end;
	if (!start || (!is_first && !is_symbol) || !begins(key->text, key->size, at, ", "))
		return 0;
	size_t value = at + 2, quote = skip_all(key->text, key->size, value, "\\", 4), end;
	if (quote >= key->size || !is_quote(key->text[quote]))
		return 0;
	if (is_symbol)
		return value;
	end = rcore_secret_literal_end(key->text, key->size, quote + 1, key->text[quote],
				       quote - value);
	end = skip_all(key->text, key->size, end, "\"'\\", 4);
	return end >= key->size || is_one_of(key->text[end], "])") ? value : 0;
}

/*
 * `{"name": "DB_PASSWORD", "value": "x"}`, as in lists of variables, also of
 * YAML, and `<input name="pin" value="x">`.
 */
static size_t in_entry(const struct key *key)
{
	static const char *const values[] = {"value", "Value", "content"};
	static const char *const lines[] = {"\n", "\\n", "\r\n"};
	size_t at = skip_quotes(key, key->end);
	size_t line = SKIP_ONE(key, at, lines);
	if (at == key->end ? line == at
			   : line == at && !begins(key->text, key->size, at, ",") &&
				     !begins(key->text, key->size, at, " "))
		return 0;
	at = skip_blanks(key, line);
	at = skip_all(key->text, key->size, at, ", \"'\\:", 8);
	struct key value = {key->text, key->size, at, SKIP_ONE(key, at, values)};
	return value.end > at ? after_separator(&value) : 0;
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
	enum rcore_secret_form form;
} places[] = {
	{after_separator, RCORE_SECRET_BARE}, {in_block, RCORE_SECRET_LINE},
	{after_option, RCORE_SECRET_BARE},    {after_login, RCORE_SECRET_BARE},
	{after_command, RCORE_SECRET_BARE},   {after_tag, RCORE_SECRET_ELEMENT},
	{in_pair, RCORE_SECRET_BARE},         {in_entry, RCORE_SECRET_BARE},
	{in_form, RCORE_SECRET_LINE},
};

/* Returns where the last of its values ends. */
static size_t take_values(const struct key *key, struct rcore_spans *ret)
{
	bool is_header = rcore_secret_is_header(key->text + key->start, key->end - key->start);
	size_t last = key->end;
	for (size_t i = 0; i < RCORE_COUNT(places); i++) {
		size_t at = places[i].value_of(key);
		enum rcore_secret_form form = is_header && places[i].form == RCORE_SECRET_BARE
						      ? RCORE_SECRET_HEADER
						      : places[i].form;
		size_t end =
			at ? rcore_secret_take_value(key->text, key->size, at, form, ret) : 0;
		last = end > last ? end : last;
	}
	return last;
}

/*
 * Returns how much of a word after '%' belongs to that escape: the "5B" of
 * "%5Btoken" and the "255B" of "%255Btoken". The characters that come before a
 * name are from %20 to %5F.
 */
static size_t escape_size(const char *word, size_t size)
{
	bool is_escape =
		size > 2 && isdigit((unsigned char)word[0]) && isxdigit((unsigned char)word[1]);
	bool is_double = size > 4 && !memcmp(word, "25", 2) &&
			 isdigit((unsigned char)word[2]) && isxdigit((unsigned char)word[3]);
	return is_double ? 4 : is_escape ? 2 : 0;
}

/*
 * Whether a name is a key. Two words with a blank or a dot between them may be
 * a key together, which then begins with the first word.
 */
static bool is_key(struct key *key)
{
	enum { LONGEST_WORD = 64 };
	if (rcore_secret_is_key(key->text + key->start, key->end - key->start))
		return true;
	if (!key->start || !is_one_of(key->text[key->start - 1], " ."))
		return false;
	size_t end = key->start - 1, start = end;
	while (start && end - start < LONGEST_WORD &&
	       isalnum((unsigned char)key->text[start - 1]))
		start--;
	if (!rcore_secret_is_pair(key->text + start, end - start, key->text + key->start,
				  key->end - key->start))
		return false;
	key->start = start;
	return true;
}

void rcore_secret_keys(const char *text, size_t size, struct rcore_spans *ret)
{
	/*
	 * Also finds keys inside a value, because rcore learns their values. In
	 * a long text, this would take quadratic time.
	 */
	enum { LONG = 4096 };
	for (size_t at = 0; at < size; at++) {
		struct key key = {text, size, at, at};
		while (key.end < size && is_word(text[key.end]))
			key.end++;
		if (key.end == at)
			continue;
		/* The "n" of "\n" is not of the name. */
		if (at && text[at - 1] == '\\' && key.end - at > 1)
			key.start++;
		else if (at && text[at - 1] == '%')
			key.start += escape_size(text + at, key.end - at);
		at = key.end;
		if (is_key(&key)) {
			size_t end = take_values(&key, ret);
			at = size > LONG ? end : at;
		}
	}
}
