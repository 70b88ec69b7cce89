/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"

/*
 * An Integer that is not a fixnum has digits to the base 2^32 (BDIGIT), lowest
 * first. They are in the slot (FL_USER2, BIGNUM_EMBED_FLAG, with their number
 * in the flags) or at as.heap.digits. FL_USER1 is set if it is positive.
 * Mirrors internal/bignum.h.
 */
enum {
	SIGN_FLAG = 1 << (RCORE_FL_USHIFT + 1),
	EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 2),
	EMBED_LENGTH_SHIFT = RCORE_FL_USHIFT + 3,
	/* Up to 3.4 there are three bits; the others are zero. */
	EMBED_LENGTH_MASK = 0x1ff,
	/* Larger ones, of over 19,729 decimal digits, are not printed. */
	DIGIT_LIMIT = 2048,
	CHUNK_DIGITS = 19, /* decimal digits that fit into a word */
};

#define CHUNK UINT64_C(10000000000000000000)

static struct rcore_error *digits_of(struct rcore_ruby *ruby, uint64_t value, uint64_t flags,
				     uint64_t *address, uint64_t *count)
{
	if (flags & EMBED_FLAG) {
		*address = value + (uint64_t)ruby->layout->bignum.embed_ary.offset;
		*count = flags >> EMBED_LENGTH_SHIFT & EMBED_LENGTH_MASK;
		return NULL;
	}
	struct rcore_error *err = RCORE_GET(ruby, value, bignum, digits, address);
	return err ? err : RCORE_GET(ruby, value, bignum, heap_len, count);
}

/* Divides by 10^19 in place and returns the remainder. */
static uint64_t divide(uint64_t *words, size_t count)
{
	unsigned __int128 rest = 0;
	for (size_t i = count; i-- > 0;) {
		rest = rest << 64 | words[i];
		words[i] = (uint64_t)(rest / CHUNK);
		rest %= CHUNK;
	}
	return (uint64_t)rest;
}

/* Returns the decimal digits, malloc'ed. */
static char *decimal(uint64_t *words, size_t count)
{
	size_t chunks = 0, capacity = count * 20 / CHUNK_DIGITS + 2;
	uint64_t *chunk = calloc(capacity, sizeof(*chunk));
	char *text = malloc(capacity * CHUNK_DIGITS + 1);
	if (chunk && text) {
		do {
			chunk[chunks++] = divide(words, count);
			while (count && !words[count - 1])
				count--;
		} while (count);
		char *end = text + sprintf(text, "%" PRIu64, chunk[--chunks]);
		while (chunks)
			end += sprintf(end, "%019" PRIu64, chunk[--chunks]);
	}
	free(chunk);
	if (!chunk) {
		free(text);
		return NULL;
	}
	return text;
}

static struct rcore_error *write_number(struct rcore_inspect *inspect, uint64_t address,
					size_t count, bool is_negative)
{
	uint64_t words[DIGIT_LIMIT / 2] = {0};
	size_t size = count * sizeof(uint32_t);
	enum rcore_fault fault = size ? rcore_read(inspect->ruby->memory, address, words, size)
				      : RCORE_FAULT_NONE;
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "digits of an Integer", address, size);
	char *text = decimal(words, (count + 1) / 2);
	if (!text)
		return rcore_error_no_memory();
	if (is_negative)
		rcore_inspect_puts(inspect, "-");
	rcore_inspect_puts(inspect, text);
	free(text);
	return NULL;
}

struct rcore_error *rcore_inspect_bignum(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	uint64_t address, count;
	struct rcore_error *err = digits_of(inspect->ruby, value, flags, &address, &count);
	if (err)
		return err;
	if (count > DIGIT_LIMIT) {
		rcore_inspect_printf(inspect, "<Integer of %" PRIu64 " bits>", count * 32);
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "Integer 0x%" PRIx64 " has %" PRIu64
					  " words of 32 bits, more than %d",
					  value, count, DIGIT_LIMIT);
	}
	return write_number(inspect, address, count, !(flags & SIGN_FLAG));
}

struct rcore_error *rcore_integer(struct rcore_ruby *ruby, uint64_t value, __int128 *ret,
				  bool *fits)
{
	enum { SIZE = sizeof(*ret) };
	uint64_t flags, address, count;
	*fits = rcore_immediate(ruby, value) == RCORE_FIXNUM;
	*ret = (int64_t)value >> 1;
	if (*fits || !rcore_is_object(ruby, value))
		return NULL;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (err || (flags & RCORE_T_MASK) != RCORE_T_BIGNUM)
		return err;
	err = digits_of(ruby, value, flags, &address, &count);
	if (err || count > SIZE / sizeof(uint32_t))
		return err;
	unsigned __int128 number = 0;
	size_t size = count * sizeof(uint32_t);
	enum rcore_fault fault = rcore_read(ruby->memory, address, &number, size);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "digits of an Integer", address, size);
	*fits = !(number >> (SIZE * 8 - 1));
	*ret = flags & SIGN_FLAG ? (__int128)number : -(__int128)number;
	return NULL;
}
