/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ID_TABLE_H
#define RCORE_RUBY_ID_TABLE_H

#include "ruby/ruby.h"

/* Entries of one table at most. */
enum { RCORE_ID_TABLE_LIMIT = 1 << 20 };

/*
 * A rb_id_table: a hash of IDs, open addressing, `capa` items of {key,
 * collision, val}; a key of 0 is a free place. The key is the ID's serial
 * number, not the ID. Mirrors id_table.c.
 */
struct rcore_id_iterator {
	struct rcore_ruby *ruby;
	uint64_t items, index, capacity;
};

/* CORRUPT where no rb_id_table stands at `table`, LIMIT, FAULT. */
struct rcore_error *rcore_id_table_begin(struct rcore_id_iterator *iterator,
					 struct rcore_ruby *ruby, uint64_t table);

/* The next entry, in no order; *found is false past the last. */
struct rcore_error *rcore_id_table_next(struct rcore_id_iterator *iterator, bool *found,
					uint64_t *serial, uint64_t *value);

/* The name of a serial, in the arena. CORRUPT: there is none; FAULT. */
struct rcore_error *rcore_serial_name(struct rcore_ruby *ruby, uint64_t serial,
				      const char **ret);

/*
 * The entry of that name; *found is false where there is none, then *ret is
 * untouched. FAULT, CORRUPT: also where one of the names could not be read, and
 * no other is it.
 */
struct rcore_error *rcore_id_table_find(struct rcore_ruby *ruby, uint64_t table,
					const char *name, bool *found, uint64_t *ret);

#endif
