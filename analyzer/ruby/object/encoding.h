/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ENCODING_H
#define RCORE_RUBY_ENCODING_H

#include "ruby/object/value.h"

/* Encodings that have the same index in every Ruby (encindex.h). */
enum rcore_encoding_index {
	RCORE_ENCODING_BINARY,
	RCORE_ENCODING_UTF_8,
	RCORE_ENCODING_US_ASCII,
	RCORE_ENCODING_UTF_16BE,
	RCORE_ENCODING_UTF_16LE,
	RCORE_ENCODING_UTF_32BE,
	RCORE_ENCODING_UTF_32LE,
	RCORE_ENCODING_UTF_16,
	RCORE_ENCODING_UTF_32,
	RCORE_ENCODING_UTF8_MAC,
	RCORE_ENCODING_EUC_JP,
	RCORE_ENCODING_WINDOWS_31J,
	RCORE_ENCODING_BUILTIN_COUNT,
};

/* How bytes form characters. */
enum rcore_charset {
	/* Each byte is one: ISO-8859-*, Windows-125*, and unknown encodings. */
	RCORE_CHARSET_BYTES,
	RCORE_CHARSET_ASCII, /* those above 127 are invalid */
	RCORE_CHARSET_UTF_8,
	RCORE_CHARSET_UTF_16BE,
	RCORE_CHARSET_UTF_16LE,
	RCORE_CHARSET_UTF_32BE,
	RCORE_CHARSET_UTF_32LE,
	RCORE_CHARSET_EUC_JP,
	RCORE_CHARSET_EUC, /* EUC-KR, GB2312 */
	RCORE_CHARSET_SHIFT_JIS,
	RCORE_CHARSET_GBK,
	RCORE_CHARSET_BIG5,
};

struct rcore_encoding {
	unsigned index;
	enum rcore_charset charset;
};

/*
 * Returns the index in the flags of a String, Symbol's String or Regexp:
 * ENCODING_SHIFT of include/ruby/internal/encoding/encoding.h.
 */
static inline unsigned rcore_encoding_index(uint64_t flags)
{
	return flags >> (RCORE_FL_USHIFT + 10) & 127;
}

/*
 * Finds an encoding by its index. One that is not among the first ones is
 * looked up by its name in rb_encoding_list, which is searched for; if that
 * fails, it is BYTES.
 */
struct rcore_encoding rcore_encoding(struct rcore_ruby *ruby, unsigned index);

bool rcore_encoding_is_unicode(const struct rcore_encoding *encoding);
bool rcore_encoding_is_ascii_compatible(const struct rcore_encoding *encoding);

/*
 * Returns the encoding of what `inspect` returns: Encoding.default_internal,
 * otherwise default_external; UTF-8 if these are not found.
 */
unsigned rcore_default_encoding(struct rcore_ruby *ruby);

/*
 * Returns the length of the character at the start of `bytes`, or 0 if none is
 * valid there. *ret is its code point, or, for charsets other than Unicode, its
 * bytes as one number. `left` is at least 1.
 */
size_t rcore_character(enum rcore_charset charset, const unsigned char *bytes, size_t left,
		       uint32_t *ret);

/* Returns how many bytes to skip if no character is valid. */
size_t rcore_shortest_character(enum rcore_charset charset);

/*
 * Whether a character is printable in this Ruby's version of Unicode. Uses
 * Ruby's own table (CR_Print), which is searched for. If it is not found,
 * everything is printable except controls, surrogates and non-characters.
 */
bool rcore_is_printable(struct rcore_ruby *ruby, uint32_t character);

#endif
