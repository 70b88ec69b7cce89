/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text.h"
#include "ruby/object/encoding.h"

/* For each encoding, enc/ of CRuby says which bytes may follow which. */

static size_t utf_16(const unsigned char *bytes, size_t left, bool little, uint32_t *ret)
{
	if (left < 2)
		return 0;
	uint32_t unit = (uint32_t)bytes[little] << 8 | bytes[!little];
	*ret = unit;
	if (unit < 0xd800 || unit > 0xdfff)
		return 2;
	if (unit > 0xdbff || left < 4)
		return 0;
	uint32_t low = (uint32_t)bytes[2 + little] << 8 | bytes[2 + !little];
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	*ret = 0x10000 + ((unit - 0xd800) << 10 | (low - 0xdc00));
	return 4;
}

static size_t utf_32(const unsigned char *bytes, size_t left, bool little, uint32_t *ret)
{
	uint32_t character;
	if (left < 4)
		return 0;
	memcpy(&character, bytes, sizeof(character));
	*ret = little ? character : __builtin_bswap32(character);
	return *ret > 0x10ffff || (*ret >= 0xd800 && *ret <= 0xdfff) ? 0 : 4;
}

static size_t utf_8(const unsigned char *bytes, size_t left, uint32_t *ret)
{
	char piece[5] = "";
	memcpy(piece, bytes, left < 4 ? left : 4);
	size_t length = rcore_utf8_decode(piece, ret);
	return length > left ? 0 : length;
}

static bool within(unsigned char byte, unsigned first, unsigned last)
{
	return byte >= first && byte <= last;
}

static size_t joined(const unsigned char *bytes, size_t length, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < length; i++)
		*ret = *ret << 8 | bytes[i];
	return length;
}

static size_t euc_jp(const unsigned char *bytes, size_t left, uint32_t *ret)
{
	bool second = left > 1 && within(bytes[1], 0xa1, 0xfe);
	if (bytes[0] == 0x8f)
		return second && left > 2 && within(bytes[2], 0xa1, 0xfe)
			       ? joined(bytes, 3, ret)
			       : 0;
	return second && (bytes[0] == 0x8e || within(bytes[0], 0xa1, 0xfe))
		       ? joined(bytes, 2, ret)
		       : 0;
}

static size_t shift_jis(const unsigned char *bytes, size_t left, uint32_t *ret)
{
	if (within(bytes[0], 0xa1, 0xdf))
		return 1;
	bool leads = within(bytes[0], 0x81, 0x9f) || within(bytes[0], 0xe0, 0xfc);
	bool trails =
		left > 1 && (within(bytes[1], 0x40, 0x7e) || within(bytes[1], 0x80, 0xfc));
	return leads && trails ? joined(bytes, 2, ret) : 0;
}

/* A character of two bytes: the ranges of the first and of the second. */
static size_t pair(const unsigned char *bytes, size_t left, unsigned lead, unsigned trail,
		   uint32_t *ret)
{
	bool leads = within(bytes[0], lead, 0xfe);
	bool trails = left > 1 &&
		      (within(bytes[1], trail, 0xfe) ||
		       (lead < trail || trail < 0xa1 ? within(bytes[1], 0x40, 0x7e) : false));
	return leads && trails ? joined(bytes, 2, ret) : 0;
}

size_t rcore_character(enum rcore_charset charset, const unsigned char *bytes, size_t left,
		       uint32_t *ret)
{
	bool is_little = charset == RCORE_CHARSET_UTF_16LE || charset == RCORE_CHARSET_UTF_32LE;
	*ret = bytes[0];
	switch (charset) {
	case RCORE_CHARSET_BYTES:
		return 1;
	case RCORE_CHARSET_UTF_16BE:
	case RCORE_CHARSET_UTF_16LE:
		return utf_16(bytes, left, is_little, ret);
	case RCORE_CHARSET_UTF_32BE:
	case RCORE_CHARSET_UTF_32LE:
		return utf_32(bytes, left, is_little, ret);
	default:
		break;
	}
	if (bytes[0] < 0x80)
		return 1;
	switch (charset) {
	case RCORE_CHARSET_UTF_8:
		return utf_8(bytes, left, ret);
	case RCORE_CHARSET_EUC_JP:
		return euc_jp(bytes, left, ret);
	case RCORE_CHARSET_SHIFT_JIS:
		return shift_jis(bytes, left, ret);
	case RCORE_CHARSET_EUC:
		return pair(bytes, left, 0xa1, 0xa1, ret);
	case RCORE_CHARSET_GBK:
		return bytes[0] == 0x80 ? 1 : pair(bytes, left, 0x81, 0x80, ret);
	case RCORE_CHARSET_BIG5:
		return pair(bytes, left, 0x81, 0xa1, ret);
	default:
		return 0;
	}
}

size_t rcore_shortest_character(enum rcore_charset charset)
{
	switch (charset) {
	case RCORE_CHARSET_UTF_16BE:
	case RCORE_CHARSET_UTF_16LE:
		return 2;
	case RCORE_CHARSET_UTF_32BE:
	case RCORE_CHARSET_UTF_32LE:
		return 4;
	default:
		return 1;
	}
}
