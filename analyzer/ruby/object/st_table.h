/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ST_TABLE_H
#define RCORE_RUBY_ST_TABLE_H

#include "ruby/ruby.h"

/*
 * A st_table has its entries in one array in the order of insertion. Those
 * between entries_start and entries_bound are in use, except deleted ones,
 * whose hash is ~0. The bins for lookups are not needed to read all entries.
 * Mirrors st.c, include/ruby/st.h.
 */
struct rcore_st_iterator {
	struct rcore_ruby *ruby;
	uint64_t entries; /* address of the array */
	/* of the next entry to read; past the last one */
	uint64_t index, bound;
	size_t buffered, taken;
	unsigned char buffer[2048];
};

/*
 * Errors: CORRUPT if there is no st_table at `table`; LIMIT if it has more than
 * `limit` entries.
 */
struct rcore_error *rcore_st_begin(struct rcore_st_iterator *iterator, struct rcore_ruby *ruby,
				   uint64_t table, uint64_t limit);

/* Reads the next entry; *found is false after the last one. */
struct rcore_error *rcore_st_next(struct rcore_st_iterator *iterator, bool *found,
				  uint64_t *key, uint64_t *record);

/*
 * Finds the record of a key in a table whose keys are numbers, IDs or addresses
 * (st_init_numtable), like the VM: its hash leads to a bin, and this to an
 * entry, or to the next bin. A table of at most 16 entries has no bins. Mirrors
 * rb_st_numhash and find_table_bin_ind of st.c. Errors: those of
 * rcore_st_begin() (for a table of any size), FAULT.
 */
struct rcore_error *rcore_st_find_number(struct rcore_ruby *ruby, uint64_t table, uint64_t key,
					 uint64_t *record, bool *found);

#endif
