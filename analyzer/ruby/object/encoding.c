/* SPDX-License-Identifier: MIT */
#include "ruby/object/encoding.h"

#include <string.h>
#include <strings.h>

#include "base/count.h"
#include "ruby/object/array.h"
#include "ruby/object/data.h"
#include "ruby/get.h"
#include "ruby/search.h"

enum { NAME_SIZE = 64, SEARCH_LIMIT = 3, INDEX_MASK = (1 << 24) - 1 };

static const enum rcore_charset builtin[RCORE_ENCODING_BUILTIN_COUNT] = {
	[RCORE_ENCODING_BINARY] = RCORE_CHARSET_BYTES,
	[RCORE_ENCODING_UTF_8] = RCORE_CHARSET_UTF_8,
	[RCORE_ENCODING_US_ASCII] = RCORE_CHARSET_ASCII,
	[RCORE_ENCODING_UTF_16BE] = RCORE_CHARSET_UTF_16BE,
	[RCORE_ENCODING_UTF_16LE] = RCORE_CHARSET_UTF_16LE,
	[RCORE_ENCODING_UTF_32BE] = RCORE_CHARSET_UTF_32BE,
	[RCORE_ENCODING_UTF_32LE] = RCORE_CHARSET_UTF_32LE,
	[RCORE_ENCODING_UTF_16] = RCORE_CHARSET_UTF_16BE,
	[RCORE_ENCODING_UTF_32] = RCORE_CHARSET_UTF_32BE,
	[RCORE_ENCODING_UTF8_MAC] = RCORE_CHARSET_UTF_8,
	[RCORE_ENCODING_EUC_JP] = RCORE_CHARSET_EUC_JP,
	[RCORE_ENCODING_WINDOWS_31J] = RCORE_CHARSET_SHIFT_JIS,
};

static const struct {
	const char *name;
	enum rcore_charset charset;
} named[] = {
	{"Shift_JIS", RCORE_CHARSET_SHIFT_JIS},
	{"MacJapanese", RCORE_CHARSET_SHIFT_JIS},
	{"eucJP-ms", RCORE_CHARSET_EUC_JP},
	{"CP51932", RCORE_CHARSET_EUC_JP},
	{"EUC-JIS-2004", RCORE_CHARSET_EUC_JP},
	{"EUC-KR", RCORE_CHARSET_EUC},
	{"GB2312", RCORE_CHARSET_EUC},
	{"GB12345", RCORE_CHARSET_EUC},
	{"GBK", RCORE_CHARSET_GBK},
	{"CP936", RCORE_CHARSET_GBK},
	{"Big5", RCORE_CHARSET_BIG5},
	{"CP950", RCORE_CHARSET_BIG5},
	{"CESU-8", RCORE_CHARSET_BYTES},
	{"UTF8-DoCoMo", RCORE_CHARSET_UTF_8},
	{"UTF8-KDDI", RCORE_CHARSET_UTF_8},
	{"UTF8-SoftBank", RCORE_CHARSET_UTF_8},
};

/* Returns the struct that an element of rb_encoding_list wraps, or 0. */
static uint64_t encoding_struct(struct rcore_ruby *ruby, uint64_t list, uint64_t index)
{
	uint64_t value, data = 0;
	bool is_encoding = false;
	struct rcore_error *err = rcore_array_at(ruby, list, index, &value);
	if (!err)
		err = rcore_data_is(ruby, value, "encoding", &is_encoding, &data);
	bool found = !err && is_encoding;
	rcore_error_free(err);
	return found ? data : 0;
}

static bool has_name(struct rcore_ruby *ruby, uint64_t encoding, char name[NAME_SIZE])
{
	uint64_t address;
	struct rcore_error *err = RCORE_GET(ruby, encoding, encoding, name, &address);
	bool found = !err && rcore_read_string(ruby->memory, address, name, NAME_SIZE) ==
				     RCORE_FAULT_NONE;
	rcore_error_free(err);
	return found;
}

/*
 * Whether it is rb_encoding_list: an Array that Ruby code never sees and that
 * therefore has no class, with UTF-8 at its index.
 */
static bool is_encoding_list(void *context, uint64_t address, const void *copy, size_t size)
{
	struct rcore_ruby *ruby = context;
	uint64_t value, klass, encoding;
	enum rcore_type type = RCORE_T_NONE;
	char name[NAME_SIZE];
	memcpy(&value, copy, sizeof(value));
	if (!rcore_is_object(ruby, value))
		return false;
	struct rcore_error *err = RCORE_GET(ruby, value, basic, klass, &klass);
	if (!err && !klass)
		err = rcore_type(ruby, value, &type);
	bool possible = !err && !klass && type == RCORE_T_ARRAY;
	rcore_error_free(err);
	if (!possible)
		return false;
	encoding = encoding_struct(ruby, value, RCORE_ENCODING_UTF_8);
	return encoding && has_name(ruby, encoding, name) && strcmp(name, "UTF-8") == 0;
}

/* Returns the VALUE of rb_encoding_list, or 0 if it was not found. */
static uint64_t encoding_list(struct rcore_ruby *ruby)
{
	struct rcore_statics *statics = &ruby->statics;
	uint64_t list = 0;
	if (!statics->encoding_list && statics->searches.encoding < SEARCH_LIMIT) {
		statics->searches.encoding++;
		rcore_search_statics(ruby, sizeof(list), is_encoding_list, ruby,
				     &statics->encoding_list);
	}
	if (!statics->encoding_list ||
	    rcore_read_u64(ruby->memory, statics->encoding_list, &list) != RCORE_FAULT_NONE)
		return 0;
	return list;
}

struct rcore_encoding rcore_encoding(struct rcore_ruby *ruby, unsigned index)
{
	struct rcore_encoding encoding = {index, RCORE_CHARSET_BYTES};
	char name[NAME_SIZE];
	if (index < RCORE_ENCODING_BUILTIN_COUNT) {
		encoding.charset = builtin[index];
		return encoding;
	}
	uint64_t list = encoding_list(ruby);
	uint64_t data = list ? encoding_struct(ruby, list, index) : 0;
	if (!data || !has_name(ruby, data, name))
		return encoding;
	for (size_t i = 0; i < RCORE_COUNT(named); i++)
		if (strcasecmp(name, named[i].name) == 0)
			encoding.charset = named[i].charset;
	return encoding;
}

bool rcore_encoding_is_unicode(const struct rcore_encoding *encoding)
{
	return encoding->charset >= RCORE_CHARSET_UTF_8 &&
	       encoding->charset <= RCORE_CHARSET_UTF_32LE;
}

bool rcore_encoding_is_ascii_compatible(const struct rcore_encoding *encoding)
{
	return encoding->charset < RCORE_CHARSET_UTF_16BE ||
	       encoding->charset > RCORE_CHARSET_UTF_32LE;
}

struct default_search {
	struct rcore_ruby *ruby;
	uint64_t list;
};

/*
 * struct default_encoding of encoding.c: an index (int) and the encoding with
 * that index.
 */
static bool is_default_encoding(void *context, uint64_t address, const void *copy, size_t size)
{
	struct default_search *search = context;
	uint64_t words[2], index;
	memcpy(words, copy, sizeof(words));
	if (words[0] > 127 || !rcore_is_object(search->ruby, words[1]))
		return false;
	struct rcore_error *err = RCORE_GET(search->ruby, words[1], encoding, index, &index);
	bool possible = !err && (index & INDEX_MASK) == words[0];
	rcore_error_free(err);
	return possible && encoding_struct(search->ruby, search->list, words[0]) == words[1];
}

/*
 * Finds the first of such pairs. default_internal is initialized and therefore
 * in .data, which precedes default_external in .bss. Until it is set, it has no
 * encoding.
 */
unsigned rcore_default_encoding(struct rcore_ruby *ruby)
{
	struct rcore_statics *statics = &ruby->statics;
	struct default_search search = {ruby, encoding_list(ruby)};
	uint32_t index;
	if (search.list && !statics->default_encoding &&
	    statics->searches.default_encoding < SEARCH_LIMIT) {
		statics->searches.default_encoding++;
		rcore_search_statics(ruby, 2 * sizeof(uint64_t), is_default_encoding, &search,
				     &statics->default_encoding);
	}
	if (!statics->default_encoding ||
	    rcore_read_u32(ruby->memory, statics->default_encoding, &index) != RCORE_FAULT_NONE)
		return RCORE_ENCODING_UTF_8;
	struct rcore_encoding encoding = rcore_encoding(ruby, index);
	return rcore_encoding_is_ascii_compatible(&encoding) ? index : RCORE_ENCODING_US_ASCII;
}
