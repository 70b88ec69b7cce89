/* SPDX-License-Identifier: MIT */
/*
 * Lines in the format of ObjectSpace.dump_all: its keys, spaces and escapes
 * (ext/objspace/objspace_dump.c). json-c would be too slow for millions of
 * them.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/heap.h"
#include "report/text/style.h"

static void write_character(unsigned char c, FILE *out)
{
	static const char short_escapes[] = {
		['\b'] = 'b', ['\t'] = 't', ['\f'] = 'f',  ['\n'] = 'n',
		['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\',
	};
	if (c < sizeof(short_escapes) && short_escapes[c]) {
		putc_unlocked('\\', out);
		putc_unlocked(short_escapes[c], out);
	} else if (c < 0x20 || c == 0x7f) {
		fprintf(out, "\\u%04x", c);
	} else {
		putc_unlocked(c, out);
	}
}

/* dump_append_string_value(); other bytes are as they are. */
static void write_text(const char *text, size_t length, FILE *out)
{
	putc_unlocked('"', out);
	for (size_t i = 0; i < length; i++)
		write_character((unsigned char)text[i], out);
	putc_unlocked('"', out);
}

/*
 * A damaged name may be any bytes: U+FFFD stands for each that is not UTF-8. No
 * name has a NUL.
 */
static void write_name(const char *name, FILE *out)
{
	if (rcore_utf8_valid(name)) {
		write_text(name, strlen(name), out);
		return;
	}
	putc_unlocked('"', out);
	for (uint32_t code; *name;) {
		size_t length = rcore_utf8_decode(name, &code);
		if (!length)
			fputs_unlocked("\\ufffd", out);
		else if (length > 1)
			fwrite_unlocked(name, 1, length, out);
		else
			write_character((unsigned char)*name, out);
		name += length ? length : 1;
	}
	putc_unlocked('"', out);
}

static void write_address(uint64_t address, FILE *out)
{
	char digits[19];
	size_t at = sizeof(digits);
	do {
		digits[--at] = "0123456789abcdef"[address & 15];
		address >>= 4;
	} while (address);
	digits[--at] = 'x';
	digits[--at] = '0';
	putc_unlocked('"', out);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, out);
	putc_unlocked('"', out);
}

/* dump_append_g(). Ruby's own "%#g" prints NaN and infinities like this. */
static void write_float(double real, FILE *out)
{
	if (isnan(real))
		fputs("\"NaN\"", out);
	else if (isinf(real))
		fputs(real < 0 ? "\"-Inf\"" : "\"Inf\"", out);
	else
		fprintf(out, "\"%#g\"", real);
}

static void write_attribute(const struct rcore_attribute *attribute, FILE *out)
{
	fprintf(out, "\"%s\":", attribute->key);
	switch (attribute->kind) {
	case RCORE_ATTRIBUTE_NUMBER:
		fprintf(out, "%" PRIu64, attribute->number);
		break;
	case RCORE_ATTRIBUTE_SIGNED:
		fprintf(out, "%" PRId32, (int32_t)attribute->number);
		break;
	case RCORE_ATTRIBUTE_ADDRESS:
		write_address(attribute->number, out);
		break;
	case RCORE_ATTRIBUTE_TRUE:
		fputs_unlocked("true", out);
		break;
	case RCORE_ATTRIBUTE_WORD:
	case RCORE_ATTRIBUTE_TEXT:
		write_text(attribute->text, attribute->length, out);
		break;
	case RCORE_ATTRIBUTE_NAME:
		write_name(attribute->text, out);
		break;
	case RCORE_ATTRIBUTE_FLOAT:
		write_float(attribute->real, out);
		break;
	}
}

static void write_attributes(const struct rcore_attribute *attributes, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputs_unlocked(", ", out);
		write_attribute(&attributes[i], out);
	}
}

static void write_references(const struct rcore_heap_line *line, FILE *out)
{
	if (!line->reference_count)
		return;
	fputs_unlocked(", \"references\":[", out);
	for (size_t i = 0; i < line->reference_count; i++) {
		if (i)
			fputs_unlocked(", ", out);
		write_address(line->references[i], out);
	}
	putc_unlocked(']', out);
}

struct rcore_error *rcore_report_heap_line(const struct rcore_heap_line *line, FILE *out)
{
	putc_unlocked('{', out);
	write_attributes(line->attributes, line->attribute_count, out);
	write_references(line, out);
	if (line->is_opaque)
		fputs_unlocked(", \"conservative\":true", out);
	if (line->is_partial)
		fputs_unlocked(", \"partial\":true", out);
	if (line->has_memsize)
		fprintf(out, ", \"memsize\":%" PRIu64, line->memsize);
	if (line->flag_count) {
		fputs_unlocked(", \"flags\":{", out);
		write_attributes(line->flags, line->flag_count, out);
		putc_unlocked('}', out);
	}
	fputs_unlocked("}\n", out);
	return ferror(out) ? rcore_pen_error(out) : NULL;
}
