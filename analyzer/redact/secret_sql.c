/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "base/count.h"
#include "redact/secret_chars.h"
#include "redact/secret_values.h"

/*
 * What a password follows as a literal in SQL. Its characters are any, so it
 * ends with its quote, not with the first character that no token has.
 */
static const char *const clauses[] = {"identified by ", "identified by password ",
				      "password ",      "password(",
				      "password by ",   "password as "};

enum { ESCAPES = 4 }; /* backslashes before a quote, in Strings of Strings */

struct scan {
	const char *text;
	size_t size;
	/*
	 * Where the last literal of each kind of quote ended: each byte is
	 * searched for it once.
	 */
	size_t ends[2][ESCAPES];
	struct rcore_spans *found;
};

static bool is_escaped_quote(const struct scan *scan, size_t at, char quote, size_t escapes)
{
	for (size_t i = 0; i < escapes; i++)
		if (at + i >= scan->size || scan->text[at + i] != '\\')
			return false;
	return at + escapes < scan->size && scan->text[at + escapes] == quote;
}

/* Two quotes stand for one: 'it''s'. */
static size_t literal_end(struct scan *scan, size_t start, char quote, size_t escapes)
{
	size_t *end = &scan->ends[quote == '"'][escapes];
	if (*end > start)
		return *end;
	for (*end = start;; *end += 2 * (escapes + 1)) {
		*end = rcore_secret_literal_end(scan->text, scan->size, *end, quote, escapes);
		size_t next = *end + escapes + 1;
		if (!is_escaped_quote(scan, next, quote, escapes))
			return *end;
	}
}

static void find_literal(struct scan *scan, size_t at)
{
	size_t escapes = 0;
	while (at < scan->size && scan->text[at] == '\\' && escapes < ESCAPES) {
		escapes++;
		at++;
	}
	if (at >= scan->size || escapes == ESCAPES || !is_one_of(scan->text[at], "'\""))
		return;
	size_t start = at + 1, end = literal_end(scan, start, scan->text[at], escapes);
	if (end > start)
		rcore_span_add(scan->found, start, end, RCORE_REDACTED_KEY);
}

void rcore_secret_sql(const char *text, size_t size, struct rcore_spans *ret)
{
	struct scan scan = {.text = text, .size = size, .found = ret};
	for (size_t at = 0; at < size; at++) {
		if (!is_one_of(text[at], "iIpP"))
			continue;
		for (size_t i = 0; i < RCORE_COUNT(clauses); i++) {
			size_t length = strlen(clauses[i]);
			if (length <= size - at && !strncasecmp(text + at, clauses[i], length))
				find_literal(&scan, at + length);
		}
	}
}
