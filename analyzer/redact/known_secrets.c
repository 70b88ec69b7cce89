/* SPDX-License-Identifier: MIT */
#include "redact/known_secrets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/filler.h"
#include "base/grow.h"
#include "base/order.h"

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
	/* each has more than twice the items of the next one */
	MOST_LEVELS = 64,
};

struct secret {
	size_t size;
	char *bytes;
	/* the longest other one of its level that it begins with */
	const struct secret *start;
	bool is_lost;
	UT_hash_handle hh; /* by all bytes */
};

struct rcore_known_secrets {
	struct secret *wholes;
	/*
	 * Those of ANYWHERE bytes and more, in levels. Each level is sorted,
	 * and begins where the one before it ends; those after the last level
	 * are new. A secret moves to another level a few times, however many
	 * there are.
	 */
	struct secret **items;
	size_t count, capacity, sorted_count;
	size_t levels[MOST_LEVELS], level_count; /* where each begins */
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
	HASH_ITER (hh, known->wholes, secret, next) {
		HASH_DELETE(hh, known->wholes, secret);
		free(secret->bytes);
		free(secret);
	}
	free(known->items);
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
	HASH_ADD_KEYPTR(hh, known->wholes, secret->bytes, secret->size, secret);
	if (secret->is_lost || secret->size < ANYWHERE)
		return !secret->is_lost;
	struct secret **item = rcore_push(known);
	if (!item)
		return false;
	*item = secret;
	unsigned bit = filter_bit(secret->bytes);
	known->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
	return true;
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

bool rcore_known_secrets_join(struct rcore_known_secrets *known,
			      const struct rcore_known_secrets *others)
{
	for (const struct secret *secret = others->wholes; secret; secret = secret->hh.next)
		if (!add(known, secret->bytes, secret->size))
			return false;
	return true;
}

static size_t common_of(const struct secret *secret, const char *text, size_t size)
{
	size_t common = 0, most = secret->size < size ? secret->size : size;
	while (common < most && secret->bytes[common] == text[common])
		common++;
	return common;
}

static int compare(const struct secret *secret, const char *text, size_t size)
{
	int order = memcmp(secret->bytes, text, secret->size < size ? secret->size : size);
	return order ? order : (secret->size > size) - (secret->size < size);
}

static int by_bytes(const void *left, const void *right)
{
	const struct secret *const *a = left, *const *b = right;
	return compare(*a, (*b)->bytes, (*b)->size);
}

/* Some secrets in order. */
struct level {
	struct secret *const *items;
	size_t count;
};

/* Returns how many secrets stand before a text or are equal to it. */
static size_t rank_of(const struct level *level, const char *text, size_t size)
{
	size_t low = RCORE_PARTITION_POINT(level->count, middle,
					   compare(level->items[middle], text, size) <= 0);
	return low;
}

/* A secret that another one begins with stands before it. */
static void find_starts(struct secret **items, size_t count)
{
	const struct secret *start = NULL;
	for (size_t i = 0; i < count; i++) {
		struct secret *secret = items[i];
		while (start && common_of(start, secret->bytes, secret->size) < start->size)
			start = start->start;
		secret->start = start;
		start = secret;
	}
}

/*
 * Makes the new secrets a level, together with the levels that would not be
 * more than twice as large. Secrets are learned from a whole process at once,
 * or one by one from the Strings of a heap.
 */
static void sort(struct rcore_known_secrets *known)
{
	size_t from = known->sorted_count;
	if (from == known->count)
		return;
	while (known->level_count &&
	       from - known->levels[known->level_count - 1] <= 2 * (known->count - from))
		from = known->levels[--known->level_count];
	qsort(known->items + from, known->count - from, sizeof(struct secret *), by_bytes);
	find_starts(known->items + from, known->count - from);
	known->levels[known->level_count++] = from;
	known->sorted_count = known->count;
}

/*
 * The neighbours of a text have the most bytes in common with it. A secret that
 * the text begins with is the one before it, or a start of that.
 */
static size_t longest_of_level(const struct level *level, const char *text, size_t size)
{
	size_t longest = 0, rank = rank_of(level, text, size);
	for (size_t i = rank ? rank - 1 : 0; i <= rank && i < level->count; i++) {
		size_t common = common_of(level->items[i], text, size);
		if (common >= ENOUGH && common > longest)
			longest = common;
	}
	const struct secret *secret = rank ? level->items[rank - 1] : NULL;
	size_t common = secret ? common_of(secret, text, size) : 0;
	while (secret && secret->size > common)
		secret = secret->start;
	return secret && secret->size > longest ? secret->size : longest;
}

static size_t longest_match(const struct rcore_known_secrets *known, const char *text,
			    size_t size)
{
	size_t longest = 0, end = known->sorted_count;
	for (size_t i = known->level_count; i-- > 0; end = known->levels[i]) {
		const struct level level = {known->items + known->levels[i],
					    end - known->levels[i]};
		size_t found = longest_of_level(&level, text, size);
		longest = found > longest ? found : longest;
	}
	return longest;
}

void rcore_known_secrets_find(struct rcore_known_secrets *known, const char *text, size_t size,
			      struct rcore_spans *ret)
{
	size_t start, end;
	sort(known);
	for (size_t at = 0; known->count && at + ANYWHERE <= size; at++) {
		unsigned bit = filter_bit(text + at);
		if (!(known->filter[bit / 8] >> bit % 8 & 1))
			continue;
		size_t most = size - at < 2 * LONGEST ? size - at : 2 * LONGEST;
		size_t found = longest_match(known, text + at, most);
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
	HASH_FIND(hh, known->wholes, text, size, secret);
	return secret;
}
