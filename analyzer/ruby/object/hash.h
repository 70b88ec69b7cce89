/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HASH_H
#define RCORE_RUBY_HASH_H

#include "ruby/object/st_table.h"
#include "ruby/object/value.h"

/*
 * A Hash of up to eight pairs is an ar_table, a plain array of pairs; a larger
 * one is a st_table (FL_USER3, RHASH_ST_TABLE_FLAG). Both keep the order of
 * insertion. The flags say how many slots of the ar_table are in use, and how
 * many of these have a pair. A deleted pair has the key Qundef (2.6: the hash
 * ~0).
 *
 *   up to 3.2   RHash.as.ar ──> pairs[8]    RHash.as.st ──> st_table
 *   3.3 on      RHash | hints, pairs[8]     RHash | st_table, in one slot
 *
 * Mirrors internal/hash.h, hash.c.
 */
struct rcore_hash_iterator {
	struct rcore_ruby *ruby;
	uint64_t count; /* pairs there are */
	bool is_st;
	uint64_t pairs, index, bound; /* of an ar_table */
	struct rcore_st_iterator st;
};

/* More pairs than any plausible Hash has. */
#define RCORE_HASH_LIMIT (UINT64_C(1) << 28)

/*
 * Errors: CORRUPT if it is not a T_HASH, or its table is implausible; LIMIT;
 * FAULT.
 */
struct rcore_error *rcore_hash_begin(struct rcore_hash_iterator *iterator,
				     struct rcore_ruby *ruby, uint64_t value);

/* Reads the next pair; *found is false after the last one. */
struct rcore_error *rcore_hash_next(struct rcore_hash_iterator *iterator, bool *found,
				    uint64_t *key, uint64_t *value);

#endif
