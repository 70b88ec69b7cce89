/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ID_TABLE_H
#define RCORE_RUBY_ID_TABLE_H

#include "ruby/ruby.h"

/* The most entries of one table. */
enum { RCORE_ID_TABLE_LIMIT = 1 << 20 };

/*
 * Iterates over a rb_id_table: a hash of IDs with open addressing, `capa` items
 * of {key, collision, val}. A key of 0 is a free place. The key is the ID's
 * serial number, not the ID. Mirrors id_table.c.
 */
struct rcore_id_iterator {
	struct rcore_ruby *ruby;
	uint64_t items, index, capacity;
};

/* Errors: CORRUPT if there is no rb_id_table at `table`; LIMIT; FAULT. */
struct rcore_error *rcore_id_table_begin(struct rcore_id_iterator *iterator,
					 struct rcore_ruby *ruby, uint64_t table);

/*
 * Reads the next entry, in no particular order; *found is false after the last
 * one.
 */
struct rcore_error *rcore_id_table_next(struct rcore_id_iterator *iterator, bool *found,
					uint64_t *serial, uint64_t *value);

/*
 * Returns the name of a serial, in the arena. Errors: CORRUPT if there is none;
 * FAULT.
 */
struct rcore_error *rcore_serial_name(struct rcore_ruby *ruby, uint64_t serial,
				      const char **ret);

/*
 * Finds the entry with that name. If there is none, *found is false and *ret
 * does not change. Errors: FAULT; CORRUPT, also if a name could not be read and
 * no other one matches.
 */
struct rcore_error *rcore_id_table_find(struct rcore_ruby *ruby, uint64_t table,
					const char *name, bool *found, uint64_t *ret);

#endif
