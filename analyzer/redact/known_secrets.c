/* SPDX-License-Identifier: MIT */
#include "redact/known_secrets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/filler.h"

#define HASH_NONFATAL_OOM           1
#define uthash_nonfatal_oom(secret) ((secret)->is_lost = true)
#include <uthash.h>

enum {
	SHORTEST = 3,
	/* the least bytes of a secret that is found inside other text */
	ANYWHERE = 6,
	/* the bytes of a longer secret that are enough to find it */
	ENOUGH = 32,
	LONGEST = 4096,
	FILTER_BITS = 16,
};

struct secret {
	size_t size;
	char *bytes;
	struct secret *next; /* begins with the same ANYWHERE bytes */
	bool is_lost;
	/* by the first ANYWHERE bytes; by all bytes */
	UT_hash_handle hh, whole;
};

struct rcore_known_secrets {
	struct secret *heads, *wholes;
	/* Of the first four bytes of each secret. */
	uint8_t filter[1 << (FILTER_BITS - 3)];
};

struct rcore_known_secrets *rcore_known_secrets_new(void)
{
	return calloc(1, sizeof(struct rcore_known_secrets));
}

void rcore_known_secrets_free(struct rcore_known_secrets *known)
{
	struct secret *secret, *next;
	if (!known)
		return;
	HASH_CLEAR(hh, known->heads);
	HASH_ITER (whole, known->wholes, secret, next) {
		HASH_DELETE(whole, known->wholes, secret);
		free(secret->bytes);
		free(secret);
	}
	free(known);
}

static unsigned filter_bit(const char *bytes)
{
	uint32_t word;
	memcpy(&word, bytes, sizeof(word));
	return word * UINT32_C(2654435761) >> (32 - FILTER_BITS);
}

static bool insert(struct rcore_known_secrets *known, struct secret *secret)
{
	struct secret *head = NULL;
	HASH_ADD_KEYPTR(whole, known->wholes, secret->bytes, secret->size, secret);
	if (secret->is_lost)
		return false;
	if (secret->size < ANYWHERE)
		return true;
	HASH_FIND(hh, known->heads, secret->bytes, ANYWHERE, head);
	if (head) {
		secret->next = head->next;
		head->next = secret;
		return true;
	}
	HASH_ADD_KEYPTR(hh, known->heads, secret->bytes, ANYWHERE, secret);
	unsigned bit = filter_bit(secret->bytes);
	known->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
	return !secret->is_lost;
}

static bool add(struct rcore_known_secrets *known, const char *bytes, size_t size)
{
	if (size < SHORTEST || rcore_is_filled(bytes, size) ||
	    rcore_known_secrets_has(known, bytes, size))
		return true;
	struct secret *secret = calloc(1, sizeof(*secret));
	char *copy = malloc(size);
	if (secret && copy) {
		memcpy(copy, bytes, size);
		secret->bytes = copy;
		secret->size = size;
		if (insert(known, secret))
			return true;
		if (!secret->is_lost)
			return false;
	}
	free(copy);
	free(secret);
	return false;
}

static bool add_wide(struct rcore_known_secrets *known, const char *bytes, size_t size)
{
	char *wide = calloc(2, size + 1);
	if (!wide)
		return false;
	for (size_t i = 0; i < size; i++)
		wide[2 * i] = bytes[i];
	/* in big-endian order, no NUL follows */
	bool fine = add(known, wide, 2 * size - 1);
	free(wide);
	return fine;
}

static size_t put_utf8(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | c >> 12);
	out[1] = (char)(0x80 | (c >> 6 & 0x3f));
	out[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

/*
 * Decodes one escape of String#inspect at text[at], after the backslash.
 * Returns the number of characters in the escape.
 */
static size_t unescape_one(const char *text, size_t size, char *out, size_t *length)
{
	static const char letters[] = "abtnvfr";
	const char *letter = text[0] ? strchr(letters, text[0]) : NULL;
	size_t digits = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : 0;
	char number[5] = "";
	if (digits && digits < size) {
		memcpy(number, text + 1, digits);
		if (strspn(number, "0123456789abcdefABCDEF") == digits) {
			uint32_t c = (uint32_t)strtoul(number, NULL, 16);
			*length += text[0] == 'x' ? (out[*length] = (char)c, 1)
						  : put_utf8(c, out + *length);
			return digits + 1;
		}
	}
	out[(*length)++] = letter           ? (char)(7 + (letter - letters))
			   : text[0] == 'e' ? 0x1b
					    : text[0];
	return 1;
}

static size_t unescape(const char *text, size_t size, char *out)
{
	size_t length = 0;
	for (size_t at = 0; at < size;) {
		if (text[at] == '\\' && at + 1 < size)
			at += 1 + unescape_one(text + at + 1, size - at - 1, out, &length);
		else
			out[length++] = text[at++];
	}
	return length;
}

bool rcore_known_secrets_add(struct rcore_known_secrets *known, const char *text, size_t size)
{
	size = size < LONGEST ? size : LONGEST;
	if (rcore_secret_is_void(text, size) || size < SHORTEST)
		return true;
	char *plain = malloc(size);
	if (!plain)
		return false;
	size_t length = unescape(text, size, plain);
	bool fine = add(known, text, size) && add(known, plain, length) &&
		    (length < SHORTEST || add_wide(known, plain, length));
	free(plain);
	return fine;
}

static size_t match(const struct secret *secret, const char *text, size_t size)
{
	size_t common = 0, most = secret->size < size ? secret->size : size;
	while (common < most && secret->bytes[common] == text[common])
		common++;
	return common >= (secret->size < ENOUGH ? secret->size : ENOUGH) ? common : 0;
}

static size_t longest_match(const struct rcore_known_secrets *known, const char *text,
			    size_t size)
{
	struct secret *secret;
	size_t longest = 0;
	HASH_FIND(hh, known->heads, text, ANYWHERE, secret);
	for (; secret; secret = secret->next) {
		size_t found = match(secret, text, size);
		longest = found > longest ? found : longest;
	}
	return longest;
}

void rcore_known_secrets_find(const struct rcore_known_secrets *known, const char *text,
			      size_t size, struct rcore_spans *ret)
{
	size_t start, end;
	for (size_t at = 0; known->heads && at + ANYWHERE <= size; at++) {
		unsigned bit = filter_bit(text + at);
		if (!(known->filter[bit / 8] >> bit % 8 & 1))
			continue;
		size_t found = longest_match(known, text + at, size - at);
		rcore_span_add(ret, at, at + found, RCORE_REDACTED_KNOWN);
		at += found ? found - 1 : 0;
	}
	for (size_t at = 0; known->wholes && rcore_next_quoted(text, size, &at, &start, &end);)
		if (end - start < ANYWHERE &&
		    rcore_known_secrets_has(known, text + start, end - start))
			rcore_span_add(ret, start, end, RCORE_REDACTED_KNOWN);
}

bool rcore_known_secrets_has(const struct rcore_known_secrets *known, const char *text,
			     size_t size)
{
	struct secret *secret;
	HASH_FIND(whole, known->wholes, text, size, secret);
	return secret;
}
