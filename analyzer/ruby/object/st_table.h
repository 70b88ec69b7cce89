/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ST_TABLE_H
#define RCORE_RUBY_ST_TABLE_H

#include "ruby/ruby.h"

/*
 * An st_table keeps its entries in one array in the order they came: those
 * between entries_start and entries_bound are in use, but for the deleted ones,
 * whose hash is ~0. The bins that lead a lookup there are not needed to go
 * through all. Mirrors st.c, include/ruby/st.h.
 */
struct rcore_st_iterator {
	struct rcore_ruby *ruby;
	uint64_t entries;      /* address of the array */
	uint64_t index, bound; /* of the next entry to read; where they end */
	size_t buffered, taken;
	unsigned char buffer[2048];
};

/*
 * CORRUPT where no st_table stands at `table`, LIMIT where it has more than
 * `limit` entries.
 */
struct rcore_error *rcore_st_begin(struct rcore_st_iterator *iterator, struct rcore_ruby *ruby,
				   uint64_t table, uint64_t limit);

/* The next entry; *found is false past the last. */
struct rcore_error *rcore_st_next(struct rcore_st_iterator *iterator, bool *found,
				  uint64_t *key, uint64_t *record);

/*
 * The record of a key in a table whose keys are numbers, IDs or addresses
 * (st_init_numtable), by the way that the VM takes: its hash leads to a bin,
 * that to an entry, or on to the next bin; a table of 16 entries or fewer has
 * no bins. Mirrors rb_st_numhash and find_table_bin_ind of st.c. Errors as
 * rcore_st_begin() (of a table of any size), FAULT.
 */
struct rcore_error *rcore_st_find_number(struct rcore_ruby *ruby, uint64_t table, uint64_t key,
					 uint64_t *record, bool *found);

#endif
