/* SPDX-License-Identifier: MIT */
/* Strings, Symbols, Encodings, Regexps and MatchData. */
#include <string.h>

#include "base/count.h"
#include "proof/check.h"

enum {
	STRING_EMBED_SHIFT = RCORE_FL_USHIFT + 2, /* RSTRING_EMBED_LEN_SHIFT */
	STRING_EMBED_MASK = 0x1f,
	TEXT_LIMIT = 1024, /* bytes of a String that are read */
};

/*
 * Ruby puts a NUL after the bytes of its Strings; most Strings have no other.
 */
static enum rcore_verdict is_text(const struct rcore_samples *s, uint64_t address,
				  uint64_t length)
{
	char text[TEXT_LIMIT + 1];
	if (!length)
		return RCORE_SILENT;
	if (length > INT64_MAX)
		return RCORE_FAILS;
	if (length > TEXT_LIMIT)
		return RCORE_SILENT;
	return verdict_of(!rcore_read(s->ruby->memory, address, text, length + 1) &&
			  strnlen(text, length + 1) == length);
}

static bool is_heap_string(const struct rcore_samples *s, uint64_t string)
{
	return flags_of(s, string) & (uint64_t)layout_of(s)->constant.string_noembed;
}

CHECK(string_len)
{
	uint64_t bytes, length;
	if (!is_heap_string(s, base))
		return RCORE_SILENT;
	if (!get(s, base, field, &length) || !get(s, base, &layout_of(s)->string.ptr, &bytes))
		return RCORE_FAILS;
	return is_text(s, bytes, length);
}

CHECK(string_ptr)
{
	uint64_t bytes, length;
	if (!is_heap_string(s, base))
		return RCORE_SILENT;
	if (!get(s, base, field, &bytes) || !get(s, base, &layout_of(s)->string.len, &length))
		return RCORE_FAILS;
	return is_text(s, bytes, length);
}

/* The length is in the slot or, if the bytes begin there, in the flags. */
static bool embedded_length(const struct rcore_samples *s, uint64_t string, uint64_t *ret)
{
	const struct rcore_layout *layout = layout_of(s);
	if (rcore_has(&layout->string.embed_len))
		return get(s, string, &layout->string.embed_len, ret);
	if (layout->string.embed_ary.offset != layout->string.len.offset)
		return get(s, string, &layout->string.len, ret);
	*ret = flags_of(s, string) >> STRING_EMBED_SHIFT & STRING_EMBED_MASK;
	return true;
}

CHECK(string_embedded)
{
	uint64_t length;
	if (is_heap_string(s, base))
		return RCORE_SILENT;
	if (!embedded_length(s, base, &length))
		return RCORE_FAILS;
	return is_text(s, member(base, &layout_of(s)->string.embed_ary), length);
}

/*
 * A Symbol whose String has not been used as a name yet only has the scope bits
 * of an ID.
 */
CHECK(symbol_id)
{
	enum { SCOPE_BITS = 0xf };
	uint64_t id;
	if (!get(s, base, field, &id))
		return RCORE_FAILS;
	return id <= SCOPE_BITS ? RCORE_SILENT : rcore_check_an_id(s, base, field);
}

static bool has_serial(const struct rcore_samples *s, uint64_t ids, uint64_t serial)
{
	uint64_t name;
	rcore_auto_error err = rcore_serial_string(s->ruby, ids, serial, &name);
	return !rcore_sample_failed(s, err) && is_object(s, name, TYPE(STRING));
}

/* The serial used last, or the next one. */
CHECK(symbols_last_id)
{
	uint64_t ids, last;
	return verdict_of(get(s, base, &layout_of(s)->symbols.ids, &ids) &&
			  get(s, base, field, &last) && last &&
			  (has_serial(s, ids, last) || has_serial(s, ids, last - 1)) &&
			  !has_serial(s, ids, last + 1));
}

/* A symbol table at this place has passed the check of its names. */
CHECK(symbols_ids)
{
	return RCORE_HOLDS;
}

/* The first three encodings are the same in every Ruby, at the same indices. */
CHECK(encoding_index)
{
	static const char *const first[] = {"ASCII-8BIT", "UTF-8", "US-ASCII"};
	enum { INDEX_MASK = (1 << 24) - 1, NAME_SIZE = 16 };
	uint64_t index, address;
	char name[NAME_SIZE];
	if (!get(s, base, &layout_of(s)->encoding.index, &index) ||
	    !get(s, base, &layout_of(s)->encoding.name, &address) ||
	    rcore_read_string(s->ruby->memory, address, name, sizeof(name)))
		return RCORE_FAILS;
	index &= INDEX_MASK;
	for (size_t i = 0; i < RCORE_COUNT(first); i++)
		if (index == i || !strcmp(name, first[i]))
			return verdict_of(index == i && !strcmp(name, first[i]));
	return RCORE_SILENT;
}

CHECK(encoding_length)
{
	enum { MOST = 8 };
	return at_most(s, base, field, MOST);
}

CHECK(a_regexp)
{
	return object_of(s, base, field, TYPE(REGEXP));
}

/* malloc() allocated it, so it is neither the source nor the class. */
CHECK(a_pattern)
{
	uint64_t pattern, options;
	return verdict_of(get(s, base, field, &pattern) && readable(s, pattern) &&
			  !is_object(s, pattern, TYPE(STRING) | TYPE(CLASS)) &&
			  get(s, pattern, &layout_of(s)->pattern.options, &options) &&
			  options < 1 << 16);
}

CHECK(pattern_options)
{
	return at_most(s, base, field, (1 << 16) - 1);
}

/*
 * The whole match is inside its String. A MatchData has no groups before its
 * first search (match_alloc() of re.c). If it is reused for a search that finds
 * nothing, its groups are nowhere (onig_region_clear() of regexec.c).
 */
CHECK(match_groups)
{
	const uint64_t nowhere = UINT64_MAX;
	uint64_t groups, begins, ends, begin, end;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, &layout->rmatch.num_regs, &groups) ||
	    !get(s, base, &layout->rmatch.beg, &begins) ||
	    !get(s, base, &layout->rmatch.end, &ends))
		return RCORE_FAILS;
	if (!groups && !begins && !ends)
		return RCORE_SILENT;
	if (!groups || groups >= COUNT_LIMIT || !word_at(s, begins, &begin) ||
	    !word_at(s, ends, &end))
		return RCORE_FAILS;
	if (begin == nowhere && end == nowhere)
		return RCORE_SILENT;
	return verdict_of(begin <= end && end <= INT64_MAX);
}

/* A new MatchData has neither a match nor a String. */
CHECK(match_rmatch)
{
	uint64_t rmatch;
	if (!get(s, base, field, &rmatch))
		return RCORE_FAILS;
	if (!rmatch && leads(s, base, &layout_of(s)->match.str, 0))
		return RCORE_SILENT;
	return rcore_check_match_groups(s, rmatch, field);
}
