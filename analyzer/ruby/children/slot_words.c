/* SPDX-License-Identifier: MIT */
#include "ruby/children/slot_words.h"

#include "ruby/children/children_private.h"
#include "ruby/object/embedded.h"

#define FIELD(struct_id, id) offsetof(struct rcore_layout, struct_id.id)

/* What an object has in C memory. */
enum kind {
	UNKNOWN,
	NOTHING,
	LAST,   /* text or VALUEs */
	STRUCT, /* may point to more memory */
};

/* The member that points to it: an offset in struct rcore_layout. */
struct rule {
	enum kind kind;
	size_t member;
};

static const struct rule rules[RCORE_T_MASK + 1] = {
	[RCORE_T_STRING] = {LAST, FIELD(string, ptr)},
	[RCORE_T_ARRAY] = {LAST, FIELD(array, heap_ptr)},
	[RCORE_T_STRUCT] = {LAST, FIELD(rstruct, heap_ptr)},
	[RCORE_T_BIGNUM] = {LAST, FIELD(bignum, digits)},
	[RCORE_T_FLOAT] = {NOTHING, 0},
	[RCORE_T_RATIONAL] = {NOTHING, 0},
	[RCORE_T_COMPLEX] = {NOTHING, 0},
	[RCORE_T_SYMBOL] = {NOTHING, 0},
	[RCORE_T_MOVED] = {NOTHING, 0},
	/* Instance variables may be in a hash table. */
	[RCORE_T_OBJECT] = {STRUCT, FIELD(object, ivptr)},
	[RCORE_T_HASH] = {STRUCT, FIELD(hash, table)},
	[RCORE_T_MATCH] = {STRUCT, FIELD(match, rmatch)},
	[RCORE_T_REGEXP] = {STRUCT, FIELD(regexp, ptr)},
	[RCORE_T_FILE] = {STRUCT, FIELD(file, fptr)},
};

/* Sets the words of a struct of `length` bytes at an offset. */
static void set(struct rcore_slot_words *words, uint64_t offset, uint64_t length, uint32_t size)
{
	if (offset >= size)
		return;
	words->start = (uint32_t)offset;
	words->end = length < size - offset ? (uint32_t)(offset + length) : size;
}

/*
 * From 3.3 on, the hash table of a Hash and the registers of a MatchData follow
 * the object's struct in its slot.
 */
static void set_inner(const struct rcore_layout *layout, uint64_t flags, uint32_t size,
		      struct rcore_slot_words *ret)
{
	/* RHASH_ST_TABLE_FLAG */
	const uint64_t has_st_table = RCORE_FL_USER(3);
	if ((flags & RCORE_T_MASK) == RCORE_T_MATCH)
		set(ret, layout->match.size, layout->rmatch.size, size);
	else if (flags & has_st_table)
		set(ret, layout->hash.size, layout->st_table.size, size);
}

void rcore_slot_words(const struct rcore_layout *layout, uint64_t flags, uint32_t size,
		      struct rcore_slot_words *ret)
{
	enum { BASIC = 16 /* sizeof(struct RBasic) */ };
	const enum rcore_type type = flags & RCORE_T_MASK;
	const struct rule *rule = &rules[type];
	const struct rcore_field *member = (const void *)((const char *)layout + rule->member);
	*ret = (struct rcore_slot_words){.leads_on =
						 rule->kind == UNKNOWN || rule->kind == STRUCT};
	if (rule->kind == NOTHING)
		return;
	/*
	 * The flag is not cleared if an object's instance variables move to a
	 * hash table.
	 */
	if (type != RCORE_T_OBJECT && rcore_is_embedded(layout, flags))
		return;
	if (rule->kind == UNKNOWN || (rcore_has(member) && !rcore_has_place(member)))
		set(ret, BASIC, size, size);
	else if (rcore_has(member))
		set(ret, (uint64_t)member->offset, sizeof(uint64_t), size);
	else
		set_inner(layout, flags, size, ret);
}
