/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/string.h"

struct text {
	struct rcore_ruby *ruby;
	const unsigned char *bytes;
	size_t length;
	enum rcore_charset charset;
	bool is_unicode, is_ascii_compatible;
	bool is_result; /* is it in the encoding of inspect's result */
};

/*
 * A String in one of the dummy encodings UTF-16 and UTF-32 is binary; not even
 * ASCII is printed as text. Up to 3.1, its byte order mark, if it has one, says
 * how it is read. get_actual_encoding of string.c.
 */
static void resolve_dummy(struct text *text, bool is_32)
{
	static const enum rcore_charset charsets[2][2] = {
		{RCORE_CHARSET_UTF_16BE, RCORE_CHARSET_UTF_16LE},
		{RCORE_CHARSET_UTF_32BE, RCORE_CHARSET_UTF_32LE}};
	enum { MARK = 0xfeff };
	bool by_mark = text->ruby->layout->traits.dummy_utf_by_mark;
	text->is_ascii_compatible = text->is_unicode = false;
	text->charset = RCORE_CHARSET_BYTES;
	for (int i = 0; i < 2 && by_mark && text->length; i++) {
		uint32_t character;
		if (!rcore_character(charsets[is_32][i], text->bytes, text->length,
				     &character) ||
		    character != MARK)
			continue;
		text->charset = charsets[is_32][i];
		text->is_unicode = true;
	}
}

static struct text begin_text(struct rcore_ruby *ruby, const char *bytes, size_t length,
			      unsigned index)
{
	struct rcore_encoding encoding = rcore_encoding(ruby, index);
	struct text text = {
		.ruby = ruby,
		.bytes = (const unsigned char *)bytes,
		.length = length,
		.charset = encoding.charset,
		.is_unicode = rcore_encoding_is_unicode(&encoding),
		.is_ascii_compatible = rcore_encoding_is_ascii_compatible(&encoding),
	};
	if (index == RCORE_ENCODING_UTF_16 || index == RCORE_ENCODING_UTF_32)
		resolve_dummy(&text, index == RCORE_ENCODING_UTF_32);
	return text;
}

static bool interpolates(const struct text *text, size_t at)
{
	uint32_t c;
	return at < text->length &&
	       rcore_character(text->charset, text->bytes + at, text->length - at, &c) &&
	       (c == '$' || c == '@' || c == '{');
}

static char letter(uint32_t character)
{
	static const char letters[] = "abtnvfr"; /* bytes 7 to 13 */
	if (character >= 7 && character <= 13)
		return letters[character - 7];
	return character == 0x1b ? 'e' : 0;
}

static bool is_ascii(uint32_t character)
{
	return character >= 0x20 && character < 0x7f;
}

static bool is_printable(const struct text *text, uint32_t character)
{
	if (is_ascii(character))
		return text->is_ascii_compatible;
	if (character < 0x80 || !text->is_result)
		return false;
	return text->charset == RCORE_CHARSET_UTF_8 ? rcore_is_printable(text->ruby, character)
						    : text->charset > RCORE_CHARSET_UTF_8;
}

/* rb_str_buf_cat_escaped_char of string.c */
static void escape(struct rcore_inspect *inspect, const struct text *text, uint32_t character)
{
	const char *format = text->is_unicode ? (is_ascii(character)   ? "%c"
						 : character < 0x10000 ? "\\u%04X"
								       : "\\u{%X}")
					      : (character < 0x100 ? "\\x%02X" : "\\x{%X}");
	char piece[RCORE_ESCAPE_SIZE];
	snprintf(piece, sizeof(piece), format, character);
	rcore_inspect_puts(inspect, piece);
}

static void quote_character(struct rcore_inspect *inspect, const struct text *text, size_t at,
			    size_t size, uint32_t c)
{
	bool is_special = text->is_ascii_compatible || text->is_unicode;
	char special = letter(c);
	if (is_special &&
	    (c == '"' || c == '\\' || (c == '#' && interpolates(text, at + size))))
		rcore_inspect_printf(inspect, "\\%c", (int)c);
	else if (special)
		rcore_inspect_printf(inspect, "\\%c", special);
	else if (is_printable(text, c))
		rcore_inspect_write(inspect, (const char *)text->bytes + at, size);
	else
		escape(inspect, text, c);
}

/* rb_str_inspect of string.c */
void rcore_inspect_quoted(struct rcore_inspect *inspect, const char *bytes, size_t length,
			  uint64_t total, unsigned encoding)
{
	enum { LONGEST = 4 };
	struct text text = begin_text(inspect->ruby, bytes, length, encoding);
	bool is_looked_up = false;
	rcore_inspect_puts(inspect, "\"");
	for (size_t at = 0, size; at < length; at += size) {
		uint32_t c;
		size_t left = length - at;
		size = rcore_character(text.charset, text.bytes + at, left, &c);
		/* A character that is cut in two is counted among the rest. */
		if (!size && total > length && left < LONGEST)
			break;
		if (!size) {
			size = rcore_shortest_character(text.charset);
			size = size < left ? size : left;
			for (size_t i = 0; i < size; i++)
				rcore_inspect_printf(inspect, "\\x%02X", text.bytes[at + i]);
			continue;
		}
		if (c >= 0x80 && !is_looked_up) {
			text.is_result = rcore_default_encoding(inspect->ruby) == encoding;
			is_looked_up = true;
		}
		quote_character(inspect, &text, at, size, c);
	}
	rcore_inspect_puts(inspect, "\"");
	if (total > length)
		rcore_inspect_printf(inspect, "... (%" PRIu64 " more byte%s)", total - length,
				     rcore_plural(total - length));
}

/* Reads the first of `total` bytes, malloc'ed, and sets how many. */
static struct rcore_error *read_bytes(struct rcore_inspect *inspect, uint64_t address,
				      uint64_t total, char **ret, size_t *length)
{
	*length = total < inspect->options.max_string ? total : inspect->options.max_string;
	char *bytes = malloc(*length + 1);
	if (!bytes)
		return rcore_error_no_memory();
	enum rcore_fault fault =
		*length ? rcore_read(inspect->ruby->memory, address, bytes, *length)
			: RCORE_FAULT_NONE;
	if (fault != RCORE_FAULT_NONE) {
		free(bytes);
		return rcore_fault_error(fault, "bytes of a String", address, *length);
	}
	rcore_text_taken(inspect->ruby, address, bytes, *length);
	*ret = bytes;
	return NULL;
}

struct rcore_error *rcore_inspect_bytes(struct rcore_inspect *inspect, uint64_t address,
					uint64_t total, uint64_t flags)
{
	char *bytes;
	size_t length;
	struct rcore_error *err = read_bytes(inspect, address, total, &bytes, &length);
	if (err)
		return err;
	rcore_inspect_quoted(inspect, bytes, length, total, rcore_encoding_index(flags));
	free(bytes);
	return NULL;
}

struct rcore_error *rcore_inspect_string(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	uint64_t address, total;
	struct rcore_error *err = rcore_string_bytes(inspect->ruby, value, &address, &total);
	return err ? err : rcore_inspect_bytes(inspect, address, total, flags);
}

struct rcore_error *rcore_inspect_raw_bytes(struct rcore_inspect *inspect, uint64_t address,
					    uint64_t total)
{
	char *bytes;
	size_t length;
	struct rcore_error *err = read_bytes(inspect, address, total, &bytes, &length);
	if (err)
		return err;
	rcore_inspect_write(inspect, bytes, length);
	free(bytes);
	if (length < total)
		rcore_inspect_printf(inspect, "... (%" PRIu64 " more byte%s)", total - length,
				     rcore_plural(total - length));
	return NULL;
}

struct rcore_error *rcore_inspect_raw(struct rcore_inspect *inspect, uint64_t string)
{
	uint64_t address, total;
	struct rcore_error *err = rcore_string_bytes(inspect->ruby, string, &address, &total);
	return err ? err : rcore_inspect_raw_bytes(inspect, address, total);
}
