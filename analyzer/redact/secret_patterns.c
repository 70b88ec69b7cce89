/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "redact/secrets.h"

void rcore_span_add(struct rcore_spans *spans, size_t start, size_t end,
		    enum rcore_redacted kind)
{
	if (start >= end)
		return;
	struct rcore_span *span = rcore_push(spans);
	if (span)
		*span = (struct rcore_span){start, end, kind};
	else
		spans->no_memory = true;
}

void rcore_spans_deinit(struct rcore_spans *spans)
{
	free(spans->items);
	*spans = (struct rcore_spans){0};
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_span *a = left, *b = right;
	return a->start != b->start ? (a->start < b->start ? -1 : 1)
				    : (int)a->kind - (int)b->kind;
}

void rcore_spans_settle(struct rcore_spans *spans)
{
	size_t kept = 0;
	if (spans->count)
		qsort(spans->items, spans->count, sizeof(*spans->items), by_start);
	for (size_t i = 0; i < spans->count; i++) {
		struct rcore_span *last = kept ? &spans->items[kept - 1] : NULL;
		const struct rcore_span *span = &spans->items[i];
		if (last && span->start <= last->end)
			last->end = span->end > last->end ? span->end : last->end;
		else
			spans->items[kept++] = *span;
	}
	spans->count = kept;
}

/* The characters of a token besides letters and digits. */
#define DASHED "-_"
#define DOTTED "-_."
#define BASE64 "-_.~+/="

/*
 * A prefix, and how many characters must follow it at least. `keeps`: the
 * prefix is not removed.
 */
static const struct token {
	const char *prefix, *others;
	size_t least;
	enum rcore_redacted kind;
	bool keeps;
} tokens[] = {
	{"AKIA", "", 16, RCORE_REDACTED_TOKEN, false},
	{"ASIA", "", 16, RCORE_REDACTED_TOKEN, false},
	{"ghp_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"gho_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"ghu_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"ghs_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"ghr_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"github_pat_", "_", 20, RCORE_REDACTED_TOKEN, false},
	{"glpat-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"xoxa-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxb-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxp-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxr-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxs-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xapp-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"hooks.slack.com/services/", "/", 10, RCORE_REDACTED_TOKEN, true},
	{"sk_live_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"sk_test_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"rk_live_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"rk_test_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"whsec_", "", 16, RCORE_REDACTED_TOKEN, false},
	{"sk-", DASHED, 32, RCORE_REDACTED_TOKEN, false},
	{"AIza", DASHED, 35, RCORE_REDACTED_TOKEN, false},
	{"npm_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"rubygems_", "", 40, RCORE_REDACTED_TOKEN, false},
	{"SG.", DOTTED, 40, RCORE_REDACTED_TOKEN, false},
	{"eyJ", DOTTED, 20, RCORE_REDACTED_JWT, false},
	{"Bearer ", BASE64, 6, RCORE_REDACTED_BEARER, true},
	{"bearer ", BASE64, 6, RCORE_REDACTED_BEARER, true},
	{"Basic ", BASE64, 8, RCORE_REDACTED_BEARER, true},
};

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_one_of(char c, const char *others)
{
	return c && strchr(others, c);
}

static size_t run_of(const char *text, size_t size, size_t at, const char *others)
{
	size_t end = at;
	while (end < size && (is_alnum(text[end]) || is_one_of(text[end], others)))
		end++;
	return end - at;
}

static bool begins(const char *text, size_t size, size_t at, const char *prefix)
{
	size_t length = strlen(prefix);
	return length <= size - at && memcmp(text + at, prefix, length) == 0;
}

static bool is_inside_word(const char *text, size_t at)
{
	return at && is_alnum(text[at - 1]);
}

static void find_token(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	for (size_t i = 0; i < RCORE_COUNT(tokens); i++) {
		const struct token *token = &tokens[i];
		if (text[at] != token->prefix[0] || !begins(text, size, at, token->prefix))
			continue;
		size_t start = at + strlen(token->prefix);
		size_t length = run_of(text, size, start, token->others);
		/*
		 * A match in the middle of a word is not a token, except after
		 * the "n" of an escaped "\n".
		 */
		bool is_inside = is_inside_word(text, at) && (at < 2 || text[at - 2] != '\\');
		if (length >= token->least && !is_inside)
			rcore_span_add(ret, token->keeps ? start : at, start + length,
				       token->kind);
	}
}

/* From -----BEGIN to the end of the line with -----END, or of the text. */
static size_t find_pem(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	static const char mark[] = "-----BEGIN ", end_mark[] = "-----END ", dashes[] = "-----";
	if (!begins(text, size, at, mark))
		return at;
	const char *end = memmem(text + at, size - at, end_mark, strlen(end_mark));
	size_t stop = size;
	if (end) {
		size_t name = (size_t)(end - text) + strlen(end_mark);
		const char *last = memmem(text + name, size - name, dashes, strlen(dashes));
		stop = last ? (size_t)(last - text) + strlen(dashes) : size;
	} else {
		/*
		 * It is truncated, so remove everything up to the end of its
		 * literal.
		 */
		size_t quote = at;
		while (quote < size && text[quote] != '"' && text[quote])
			quote++;
		stop = quote;
	}
	rcore_span_add(ret, at, stop, RCORE_REDACTED_PEM);
	return stop - 1;
}

void rcore_secret_tokens(const char *text, size_t size, struct rcore_spans *ret)
{
	for (size_t at = 0; at < size; at++) {
		if (text[at] == '-')
			at = find_pem(text, size, at, ret);
		else if (is_alnum(text[at]))
			find_token(text, size, at, ret);
	}
}

static bool is_of_mailbox(char c)
{
	return is_alnum(c) || is_one_of(c, "._%+-");
}

/*
 * Finds local@host.tld. `name@file.rb:3` is not one; a Thread is described like
 * this.
 */
static void find_email(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	enum { LONGEST = 64 };
	size_t start = at, end = at + 1, dot = 0;
	while (start && at - start < LONGEST && is_of_mailbox(text[start - 1]))
		start--;
	while (end < size && (is_alnum(text[end]) || text[end] == '-' || text[end] == '.')) {
		if (text[end] == '.')
			dot = end;
		end++;
	}
	if (dot && dot + 1 == end) /* a full stop */
		for (end = dot, dot = 0, at++; at < end; at++)
			dot = text[at] == '.' ? at : dot;
	if (start == at || !dot || end - dot < 3)
		return;
	for (size_t i = dot + 1; i < end; i++)
		if (is_digit(text[i]))
			return;
	if (end + 1 < size && text[end] == ':' && is_digit(text[end + 1]))
		return;
	rcore_span_add(ret, start, end, RCORE_REDACTED_EMAIL);
}

/* Finds scheme://user:password@host. */
static void find_userinfo(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	enum { LONGEST = 256 };
	if (!begins(text, size, at, "://"))
		return;
	size_t start = at + 3, end = start;
	while (end < size && end - start < LONGEST && text[end] > ' ' &&
	       !is_one_of(text[end], "/?#\"'<>\\@"))
		end++;
	if (end < size && text[end] == '@')
		rcore_span_add(ret, start, end, RCORE_REDACTED_USERINFO);
}

/* Luhn's checksum; the digits may be in groups. */
static void find_card(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	enum { FEWEST = 13, MOST = 19 };
	char digits[MOST + 1];
	size_t count = 0, end = at;
	if (text[at] < '3' || text[at] > '6' || is_inside_word(text, at) ||
	    (at && is_one_of(text[at - 1], ".-_")))
		return;
	for (; end < size && count <= MOST; end++) {
		bool is_gap = (text[end] == ' ' || text[end] == '-') && end + 1 < size &&
			      is_digit(text[end + 1]);
		if (is_digit(text[end]))
			digits[count++] = text[end];
		else if (!is_gap)
			break;
	}
	if (count < FEWEST || count > MOST || (end < size && is_alnum(text[end])))
		return;
	int sum = 0;
	for (size_t i = 0; i < count; i++) {
		int digit = digits[count - 1 - i] - '0';
		digit = i % 2 ? digit * 2 : digit;
		sum += digit > 9 ? digit - 9 : digit;
	}
	if (sum % 10 == 0)
		rcore_span_add(ret, at, end, RCORE_REDACTED_CARD);
}

static double entropy(const char *text, size_t size)
{
	size_t counts[256] = {0};
	double bits = 0;
	for (size_t i = 0; i < size; i++)
		counts[(unsigned char)text[i]]++;
	for (int i = 0; i < 256; i++)
		if (counts[i])
			bits -= (double)counts[i] / (double)size *
				log2((double)counts[i] / (double)size);
	return bits;
}

struct mix {
	size_t digits, upper, lower, beyond_hex, slashes, dashes;
};

static struct mix mix_of(const char *text, size_t size)
{
	struct mix mix = {0};
	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		mix.digits += is_digit(c);
		mix.upper += c >= 'A' && c <= 'Z';
		mix.lower += c >= 'a' && c <= 'z';
		mix.beyond_hex += !is_digit(c) && !is_one_of(c, "abcdefABCDEF");
		mix.slashes += c == '/';
		mix.dashes += c == '-';
	}
	return mix;
}

static bool is_uuid(size_t size, const struct mix *mix)
{
	return size == 36 && mix->dashes == 4 && mix->beyond_hex == 4;
}

/*
 * Whether characters are random: 32 hex digits or base64 have about 3.7 and 4.5
 * bits per character, paths and words have fewer. UUIDs are names of things,
 * not keys.
 */
static bool is_random(const char *text, size_t size)
{
	enum { SHORTEST = 32 };
	static const double hex = 3.2, base64 = 4.2, with_slashes = 4.7;
	struct mix mix = mix_of(text, size);
	if (size < SHORTEST || !mix.digits || is_uuid(size, &mix))
		return false;
	if (!mix.beyond_hex)
		return mix.upper + mix.lower && entropy(text, size) > hex;
	return mix.digits > 1 && mix.upper > 1 && mix.lower > 1 &&
	       entropy(text, size) > (mix.slashes ? with_slashes : base64);
}

static size_t find_random(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	size_t length = run_of(text, size, at, "-_+/=");
	if (!length)
		return at;
	if (is_random(text + at, length))
		rcore_span_add(ret, at, at + length, RCORE_REDACTED_RANDOM);
	return at + length - 1;
}

void rcore_secret_patterns(const char *text, size_t size, struct rcore_spans *ret)
{
	rcore_secret_tokens(text, size, ret);
	for (size_t at = 0; at < size; at++) {
		if (text[at] == '@')
			find_email(text, size, at, ret);
		else if (text[at] == ':')
			find_userinfo(text, size, at, ret);
		else if (is_digit(text[at]))
			find_card(text, size, at, ret);
	}
	for (size_t at = 0; at < size; at++)
		at = find_random(text, size, at, ret);
}
