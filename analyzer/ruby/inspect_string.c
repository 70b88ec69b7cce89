/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ruby/inspect_private.h"
#include "ruby/string.h"

struct text {
	const unsigned char *bytes;
	size_t length;
	unsigned encoding;
};

/* The character at `at`; gives its bytes, 0 where it is invalid. */
static size_t decode(const struct text *text, size_t at, uint32_t *ret)
{
	char piece[5] = "";
	size_t left = text->length - at;
	if (text->encoding != RCORE_ENCODING_UTF_8) {
		*ret = text->bytes[at];
		return text->encoding == RCORE_ENCODING_US_ASCII && *ret >= 0x80 ? 0 : 1;
	}
	memcpy(piece, text->bytes + at, left < 4 ? left : 4);
	return rcore_utf8_decode(piece, ret);
}

static bool interpolates(const struct text *text, size_t at)
{
	return at < text->length && strchr("$@{", text->bytes[at]) && text->bytes[at];
}

static char letter(uint32_t character)
{
	static const char letters[] = "abtnvfr"; /* 7 to 13 */
	if (character >= 7 && character <= 13)
		return letters[character - 7];
	return character == 0x1b ? 'e' : 0;
}

static bool printable(const struct text *text, uint32_t character)
{
	if (character < 0x80)
		return character >= 0x20 && character < 0x7f;
	return text->encoding == RCORE_ENCODING_UTF_8 && character >= 0xa0;
}

static void escape(struct rcore_inspect *inspect, const struct text *text, uint32_t character)
{
	const char *format = text->encoding != RCORE_ENCODING_UTF_8 ? "\\x%02X"
			     : character < 0x10000                  ? "\\u%04X"
								    : "\\u{%X}";
	char piece[RCORE_ESCAPE_SIZE];
	snprintf(piece, sizeof(piece), format, character);
	rcore_inspect_puts(inspect, piece);
}

/* rb_str_inspect of string.c */
void rcore_inspect_quoted(struct rcore_inspect *inspect, const char *bytes, size_t length,
			  uint64_t total, unsigned encoding)
{
	const struct text text = {(const unsigned char *)bytes, length, encoding};
	rcore_inspect_puts(inspect, "\"");
	for (size_t at = 0, size; at < length; at += size) {
		uint32_t c;
		size = decode(&text, at, &c);
		/* A character that the cut went through is left to what comes after. */
		if (!size && total > length && length - at < 4)
			break;
		if (!size) {
			rcore_inspect_printf(inspect, "\\x%02X", text.bytes[at]);
			size = 1;
			continue;
		}
		char special = letter(c);
		if (special)
			rcore_inspect_printf(inspect, "\\%c", special);
		else if (c == '"' || c == '\\' || (c == '#' && interpolates(&text, at + size)))
			rcore_inspect_printf(inspect, "\\%c", (int)c);
		else if (printable(&text, c))
			rcore_inspect_write(inspect, bytes + at, size);
		else
			escape(inspect, &text, c);
	}
	rcore_inspect_puts(inspect, "\"");
	if (total > length)
		rcore_inspect_printf(inspect, "... (%" PRIu64 " more bytes)", total - length);
}

struct rcore_error *rcore_inspect_string(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	uint64_t address, total;
	struct rcore_error *err = rcore_string_bytes(inspect->ruby, value, &address, &total);
	if (err)
		return err;
	size_t length =
		total < inspect->options.max_string ? total : inspect->options.max_string;
	char *bytes = malloc(length + 1);
	if (!bytes)
		return rcore_error_no_memory();
	enum rcore_fault fault =
		length ? rcore_read(inspect->ruby->memory, address, bytes, length)
		       : RCORE_FAULT_NONE;
	if (fault == RCORE_FAULT_NONE)
		rcore_inspect_quoted(inspect, bytes, length, total,
				     rcore_encoding_index(flags));
	free(bytes);
	return fault == RCORE_FAULT_NONE
		       ? NULL
		       : rcore_fault_error(fault, "bytes of a String", address, length);
}
