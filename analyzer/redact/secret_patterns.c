/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "redact/secret_chars.h"
#include "redact/secrets.h"

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

/* glibc 2.29 has a new log2(), and the library runs with older ones. */
static double entropy(const char *text, size_t size)
{
	size_t counts[256] = {0};
	double bits = 0;
	for (size_t i = 0; i < size; i++)
		counts[(unsigned char)text[i]]++;
	for (int i = 0; i < 256; i++)
		if (counts[i])
			bits -= (double)counts[i] / (double)size *
				log10((double)counts[i] / (double)size);
	return bits / log10(2);
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
