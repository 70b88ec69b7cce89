/* SPDX-License-Identifier: MIT */
#include "ruby/object/hash.h"

#include <inttypes.h>

#include "ruby/get.h"

/* enum ruby_rhash_flags of internal/hash.h, the same from 2.6 to 4.0 */
enum {
	ST_TABLE_FLAG = 1 << (RCORE_FL_USHIFT + 3),
	AR_SIZE_SHIFT = RCORE_FL_USHIFT + 4,
	AR_BOUND_SHIFT = RCORE_FL_USHIFT + 8,
	AR_MASK = 0xf,
	AR_MAX = 8, /* RHASH_AR_TABLE_MAX_SIZE */
};

/* Finds the table: a pointer leads to it, or it follows the RHash. */
static struct rcore_error *table(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	if (rcore_has(&ruby->layout->hash.table))
		return RCORE_GET(ruby, value, hash, table, ret);
	*ret = value + ruby->layout->hash.size;
	return NULL;
}

static struct rcore_error *begin_ar(struct rcore_hash_iterator *iterator, uint64_t value,
				    uint64_t flags)
{
	const struct rcore_layout *layout = iterator->ruby->layout;
	uint64_t address;
	iterator->count = flags >> AR_SIZE_SHIFT & AR_MASK;
	iterator->bound = iterator->count ? flags >> AR_BOUND_SHIFT & AR_MASK : 0;
	if (iterator->count > AR_MAX || iterator->bound > AR_MAX ||
	    iterator->count > iterator->bound)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "Hash 0x%" PRIx64 " has %" PRIu64 " pairs in %" PRIu64
					  " places",
					  value, iterator->count, iterator->bound);
	if (!iterator->count)
		return NULL;
	struct rcore_error *err = table(iterator->ruby, value, &address);
	if (!err && !rcore_has(&layout->ar_table.pairs))
		err = rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					 "layout %s has no field ar_table.pairs", layout->name);
	if (!err)
		iterator->pairs = address + (uint64_t)layout->ar_table.pairs.offset;
	return err;
}

static struct rcore_error *begin_st(struct rcore_hash_iterator *iterator, uint64_t value)
{
	struct rcore_ruby *ruby = iterator->ruby;
	uint64_t address;
	struct rcore_error *err = table(ruby, value, &address);
	if (!err)
		err = rcore_st_begin(&iterator->st, ruby, address, RCORE_HASH_LIMIT);
	if (!err)
		err = RCORE_GET(ruby, address, st_table, num_entries, &iterator->count);
	return rcore_error_wrap(err, "Hash 0x%" PRIx64, value);
}

struct rcore_error *rcore_hash_begin(struct rcore_hash_iterator *iterator,
				     struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t flags;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (err)
		return err;
	if ((flags & RCORE_T_MASK) != RCORE_T_HASH)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a Hash",
					  value);
	iterator->ruby = ruby;
	iterator->index = 0;
	iterator->is_st = flags & ST_TABLE_FLAG;
	return iterator->is_st ? begin_st(iterator, value) : begin_ar(iterator, value, flags);
}

/* Whether the pair there was deleted. */
static struct rcore_error *is_cleared(struct rcore_ruby *ruby, uint64_t pair, uint64_t key,
				      bool *ret)
{
	uint64_t hash = 0;
	struct rcore_error *err = NULL;
	if (rcore_has(&ruby->layout->ar_pair.hash)) {
		err = RCORE_GET(ruby, pair, ar_pair, hash, &hash);
		*ret = hash == UINT64_MAX; /* RESERVED_HASH_VAL */
	} else {
		*ret = key == (uint64_t)ruby->layout->constant.qundef;
	}
	return err;
}

struct rcore_error *rcore_hash_next(struct rcore_hash_iterator *iterator, bool *found,
				    uint64_t *key, uint64_t *value)
{
	struct rcore_ruby *ruby = iterator->ruby;
	if (iterator->is_st)
		return rcore_st_next(&iterator->st, found, key, value);
	*found = false;
	while (iterator->index < iterator->bound && !*found) {
		bool cleared = false;
		uint64_t pair =
			iterator->pairs + iterator->index++ * ruby->layout->ar_pair.size;
		struct rcore_error *err = RCORE_GET(ruby, pair, ar_pair, key, key);
		if (!err)
			err = RCORE_GET(ruby, pair, ar_pair, value, value);
		if (!err)
			err = is_cleared(ruby, pair, *key, &cleared);
		if (err)
			return err;
		*found = !cleared;
	}
	return NULL;
}
