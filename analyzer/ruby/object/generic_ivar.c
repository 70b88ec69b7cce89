/* SPDX-License-Identifier: MIT */
#include "ruby/object/generic_ivar.h"

#include <inttypes.h>
#include <string.h>

#include "ruby/heap/moved.h"
#include "ruby/search.h"
#include "ruby/object/st_table.h"
#include "ruby/object/value.h"

enum {
	ENTRY_LIMIT = 1 << 26,
	PROOF_COUNT = 64, /* entries that a check reads */
	/* One in this many may be in the middle of a change. */
	PROOF_TOLERANCE = 16,
	SEARCH_LIMIT = 4,
	/* So many right entries prove a table that lacks the wanted object. */
	ENOUGH = 4,
	IVAR_LIMIT = 1 << 16,
};

/* Up to 3.4, a flag of the object says that it has an entry. */
static bool is_flagged(struct rcore_ruby *ruby, uint64_t object)
{
	uint64_t flags;
	rcore_auto_error err = rcore_flags(ruby, object, &flags);
	if (err || !(flags & (uint64_t)ruby->layout->constant.fl_exivar))
		return false;
	switch (flags & RCORE_T_MASK) {
	case RCORE_T_NONE:
	case RCORE_T_OBJECT:
	case RCORE_T_CLASS:
	case RCORE_T_MODULE:
	case RCORE_T_IMEMO:
	case RCORE_T_ICLASS:
	case RCORE_T_NODE:
		return false;
	default:
		return true;
	}
}

/* From 4.0 on, the entry points to its owner. */
static bool is_owned(struct rcore_ruby *ruby, uint64_t object, uint64_t fields)
{
	uint64_t flags, owner;
	rcore_auto_error err = rcore_flags(ruby, fields, &flags);
	return !err && rcore_imemo_type(flags) == ruby->layout->constant.imemo_fields &&
	       !rcore_read_field(ruby->memory, fields, &ruby->layout->basic.klass, &owner) &&
	       rcore_is_same_object(ruby, owner, object);
}

static bool is_entry(struct rcore_ruby *ruby, uint64_t object, uint64_t record)
{
	if (!rcore_is_object(ruby, object) || !rcore_is_object(ruby, record))
		return false;
	return rcore_has(&ruby->layout->gen_ivtbl.ivptr) ? is_flagged(ruby, object)
							 : is_owned(ruby, object, record);
}

/* Returns how many of the entries that it reads are right; 0: not the table. */
static size_t prove_entries(struct rcore_ruby *ruby, uint64_t table)
{
	struct rcore_st_iterator iterator;
	uint64_t object, record;
	size_t good = 0, bad = 0;
	bool found;
	rcore_auto_error err = rcore_st_begin(&iterator, ruby, table, ENTRY_LIMIT);
	while (!err && good + bad < PROOF_COUNT) {
		err = rcore_st_next(&iterator, &found, &object, &record);
		if (err || !found)
			break;
		if (is_entry(ruby, object, record))
			good++;
		else if (++bad > PROOF_COUNT / PROOF_TOLERANCE)
			return 0;
	}
	return !err && bad <= (good + bad) / PROOF_TOLERANCE ? good : 0;
}

struct search {
	struct rcore_ruby *ruby;
	uint64_t object, record;
	/*
	 * A table that lacks the object, which may have died meanwhile if the
	 * process runs: where the pointer to the table is, and how many of its
	 * entries are right.
	 */
	uint64_t other;
	size_t good;
};

static bool test(void *context, uint64_t address, const void *copy, size_t size)
{
	struct search *search = context;
	uint64_t table;
	bool found = false;
	if (size < sizeof(table))
		return false;
	memcpy(&table, copy, sizeof(table));
	if (!rcore_is_object(search->ruby, table))
		return false;
	rcore_auto_error err = rcore_st_find_number(search->ruby, table, search->object,
						    &search->record, &found);
	if (err)
		return false;
	size_t good = prove_entries(search->ruby, table);
	if (good && found && is_entry(search->ruby, search->object, search->record))
		return true;
	if (good > search->good) {
		search->good = good;
		search->other = address;
	}
	return false;
}

/*
 * Looks an object up in a table that is known from an earlier object, or by its
 * symbol. Other entries then need no check.
 */
static struct rcore_error *look_up(struct rcore_ruby *ruby, uint64_t object, uint64_t *ret)
{
	uint64_t table;
	bool found;
	enum rcore_fault fault =
		rcore_read_u64(ruby->memory, ruby->statics.generic_ivars, &table);
	if (fault)
		return rcore_fault_error(fault, "table of generic instance variables",
					 ruby->statics.generic_ivars, sizeof(table));
	struct rcore_error *err = rcore_st_find_number(ruby, table, object, ret, &found);
	if (!err && !found)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "0x%" PRIx64
					 " is not in the table of generic instance variables",
					 object);
	return err;
}

struct rcore_error *rcore_generic_ivar(struct rcore_ruby *ruby, uint64_t object, uint64_t *ret)
{
	struct rcore_statics *statics = &ruby->statics;
	struct search search = {.ruby = ruby, .object = object};
	if (statics->generic_ivars)
		return look_up(ruby, object, ret);
	if (statics->searches.generic < SEARCH_LIMIT) {
		statics->searches.generic++;
		if (rcore_search_statics(ruby, sizeof(uint64_t), test, &search,
					 &statics->generic_ivars)) {
			*ret = search.record;
			return NULL;
		}
		if (search.good >= ENOUGH && !ruby->core) {
			statics->generic_ivars = search.other;
			return look_up(ruby, object, ret);
		}
	}
	return rcore_error_create(RCORE_ERROR_FAULT,
				  "the table of generic instance variables was not found");
}
