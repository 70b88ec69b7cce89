/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "ruby/object/encoding.h"
#include "ruby/search.h"

/*
 * Which characters are printable depends on this Ruby's version of Unicode. The
 * table is CR_Print of enc/unicode/VERSION/name2ctype.h, constant data of
 * libruby: a count, and as many pairs of first and last. An array of pointers
 * to such tables (CodeRanges) is among the writable data, because it is
 * relocated. Each pointer there is followed until one leads to a table that
 * begins like CR_Print in every version so far.
 */
enum {
	RANGE_LIMIT = 4096,
	SEARCH_LIMIT = 3,
	NEXT_LINE = 0x85,
	LAST_LATIN_1 = 0xff,
};

static const uint32_t beginning[] = {0x20, 0x7e, 0xa0, 0x377, 0x37a, 0x37f};

static bool leads_to_table(void *context, uint64_t address, const void *copy, size_t size)
{
	struct rcore_ruby *ruby = context;
	uint64_t pointer;
	uint32_t words[1 + RCORE_COUNT(beginning)];
	memcpy(&pointer, copy, sizeof(pointer));
	return rcore_is_object(ruby, pointer & ~UINT64_C(7)) && pointer % sizeof(*words) == 0 &&
	       rcore_read(ruby->memory, pointer, words, sizeof(words)) == RCORE_FAULT_NONE &&
	       words[0] > 2 && words[0] <= RANGE_LIMIT &&
	       memcmp(words + 1, beginning, sizeof(beginning)) == 0;
}

/* Keeps a copy. Returns false if it was not found. */
static bool find_table(struct rcore_ruby *ruby)
{
	struct rcore_statics *statics = &ruby->statics;
	uint64_t table;
	uint32_t count;
	if (ruby->printable)
		return true;
	if (!statics->printable && statics->searches.printable < SEARCH_LIMIT) {
		statics->searches.printable++;
		rcore_search_statics(ruby, sizeof(table), leads_to_table, ruby,
				     &statics->printable);
	}
	if (!statics->printable ||
	    rcore_read_u64(ruby->memory, statics->printable, &table) != RCORE_FAULT_NONE ||
	    rcore_read_u32(ruby->memory, table, &count) != RCORE_FAULT_NONE ||
	    count > RANGE_LIMIT)
		return false;
	size_t size = count * 2 * sizeof(uint32_t);
	uint32_t *ranges = rcore_arena_alloc(&ruby->scratch, size);
	if (!ranges ||
	    rcore_read(ruby->memory, table + sizeof(count), ranges, size) != RCORE_FAULT_NONE)
		return false;
	ruby->printable = ranges;
	ruby->printable_count = count;
	return true;
}

static bool is_in_table(const struct rcore_ruby *ruby, uint32_t character)
{
	size_t first = 0, end = ruby->printable_count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (character > ruby->printable[2 * middle + 1])
			first = middle + 1;
		else
			end = middle;
	}
	return first < ruby->printable_count && ruby->printable[2 * first] <= character;
}

bool rcore_is_printable(struct rcore_ruby *ruby, uint32_t character)
{
	if (character <= LAST_LATIN_1) {
		if (character == NEXT_LINE)
			return ruby->layout->traits.next_line_printable;
		return character >= 0xa0 || (character >= 0x20 && character < 0x7f);
	}
	if (find_table(ruby))
		return is_in_table(ruby, character);
	return (character & 0xfffe) != 0xfffe && character != 0x2028 && character != 0x2029;
}
