/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/string.h"

/* ONIG_OPTION_* of include/ruby/onigmo.h, REG_ENCODING_NONE of re.c */
enum {
	IGNORECASE = 1,
	EXTEND = 2,
	MULTILINE = 4,
	ENCODING_NONE = 1 << (RCORE_FL_USHIFT + 6),
};

struct source {
	struct rcore_ruby *ruby;
	const unsigned char *bytes;
	size_t length;
	struct rcore_encoding encoding;
};

static bool is_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_printable(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

static size_t character(const struct source *source, size_t at, uint32_t *ret)
{
	return rcore_character(source->encoding.charset, source->bytes + at,
			       source->length - at, ret);
}

/*
 * Returns whether anything in the source must be escaped. If so, everything
 * that is not ASCII is escaped, too.
 */
static bool needs_escape(const struct source *source)
{
	bool is_looked_up = false;
	for (size_t at = 0, size; at < source->length; at += size) {
		uint32_t c;
		size = character(source, at, &c);
		if (!size || (c < 0x80 && (c == '/' || !is_printable((unsigned char)c))))
			return true;
		if (c >= 0x80 && !is_looked_up) {
			if (rcore_default_encoding(source->ruby) != source->encoding.index)
				return true;
			is_looked_up = true;
		}
	}
	return !rcore_encoding_is_ascii_compatible(&source->encoding);
}

static void write_character(struct rcore_inspect *inspect, const struct source *source,
			    size_t at, size_t size, uint32_t c)
{
	const char *bytes = (const char *)source->bytes + at;
	if (!size ||
	    (c < 0x80 && !is_printable((unsigned char)c) && !is_space((unsigned char)c)))
		rcore_inspect_printf(inspect, "\\x%02X", source->bytes[at]);
	else if (c >= 0x80)
		rcore_inspect_printf(inspect,
				     !rcore_encoding_is_unicode(&source->encoding)
					     ? (c < 0x100 ? "\\x%02X" : "\\x{%X}")
				     : c < 0x10000 ? "\\u%04X"
						   : "\\u{%X}",
				     c);
	else if (c == '/')
		rcore_inspect_puts(inspect, "\\/");
	else
		rcore_inspect_write(inspect, bytes, size);
}

/* Mirrors rb_reg_expr_str() of re.c. */
static void write_source(struct rcore_inspect *inspect, const struct source *source)
{
	if (!needs_escape(source)) {
		rcore_inspect_write(inspect, (const char *)source->bytes, source->length);
		return;
	}
	for (size_t at = 0, size; at < source->length; at += size) {
		uint32_t c, next;
		size = character(source, at, &c);
		if (size && c == '\\' && at + size < source->length) {
			size_t following = character(source, at + size, &next);
			size += following ? following : 1;
			rcore_inspect_write(inspect, (const char *)source->bytes + at, size);
			continue;
		}
		write_character(inspect, source, at, size, c);
		size = size ? size : 1;
	}
}

/* Mirrors rb_reg_desc() of re.c. */
struct rcore_error *rcore_inspect_regexp(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	struct rcore_ruby *ruby = inspect->ruby;
	uint64_t pattern, source, options = 0;
	const char *text;
	size_t length;
	struct rcore_error *err = RCORE_GET(ruby, value, regexp, ptr, &pattern);
	if (!err)
		err = RCORE_GET(ruby, value, regexp, src, &source);
	if (!err && (!pattern || rcore_is_nil(ruby, source)))
		return rcore_inspect_default(inspect, value, flags);
	if (!err)
		err = rcore_text(ruby, source, &text, &length);
	if (err)
		return err;
	err = RCORE_GET(ruby, pattern, pattern, options, &options);
	rcore_inspect_puts(inspect, "/");
	write_source(inspect,
		     &(struct source){
			     .ruby = ruby,
			     .bytes = (const unsigned char *)text,
			     .length = length,
			     .encoding = rcore_encoding(ruby, rcore_encoding_index(flags)),
		     });
	rcore_inspect_printf(inspect, "/%s%s%s%s", options & MULTILINE ? "m" : "",
			     options & IGNORECASE ? "i" : "", options & EXTEND ? "x" : "",
			     flags & ENCODING_NONE ? "n" : "");
	return err;
}
