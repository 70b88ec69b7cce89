/* SPDX-License-Identifier: MIT */
#include "ruby/object/st_table.h"

#include <inttypes.h>

#include "ruby/get.h"

/* entry_power of the largest possible table: 2^40 entries. */
enum { ENTRY_POWER_LIMIT = 40 };

#define DELETED UINT64_MAX /* RESERVED_HASH_VAL */

struct rcore_error *rcore_st_begin(struct rcore_st_iterator *iterator, struct rcore_ruby *ruby,
				   uint64_t table, uint64_t limit)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t power, count, start, bound, entries;
	struct rcore_error *err = NULL;
	if ((err = RCORE_GET(ruby, table, st_table, entry_power, &power)) ||
	    (err = RCORE_GET(ruby, table, st_table, num_entries, &count)) ||
	    (err = RCORE_GET(ruby, table, st_table, entries_start, &start)) ||
	    (err = RCORE_GET(ruby, table, st_table, entries_bound, &bound)) ||
	    (err = RCORE_GET(ruby, table, st_table, entries, &entries)))
		return err;
	if (power > ENTRY_POWER_LIMIT || bound > UINT64_C(1) << power || start > bound ||
	    count > bound - start || !layout->st_entry.size ||
	    layout->st_entry.size > sizeof(iterator->buffer))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no st_table at 0x%" PRIx64,
					  table);
	if (bound - start > limit)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "st_table 0x%" PRIx64 " has %" PRIu64
					  " entries, more than %" PRIu64,
					  table, bound - start, limit);
	iterator->ruby = ruby;
	iterator->entries = entries;
	iterator->index = start;
	iterator->bound = bound;
	iterator->buffered = iterator->taken = 0;
	return NULL;
}

static struct rcore_error *fill(struct rcore_st_iterator *iterator)
{
	uint32_t size = iterator->ruby->layout->st_entry.size;
	uint64_t count = sizeof(iterator->buffer) / size;
	if (count > iterator->bound - iterator->index)
		count = iterator->bound - iterator->index;
	uint64_t address = iterator->entries + iterator->index * size;
	enum rcore_fault fault =
		rcore_read(iterator->ruby->memory, address, iterator->buffer, count * size);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "entries of a st_table", address, count * size);
	iterator->index += count;
	iterator->buffered = count;
	iterator->taken = 0;
	return NULL;
}

struct rcore_error *rcore_st_next(struct rcore_st_iterator *iterator, bool *found,
				  uint64_t *key, uint64_t *record)
{
	const struct rcore_layout *layout = iterator->ruby->layout;
	uint32_t size = layout->st_entry.size;
	for (;;) {
		uint64_t hash;
		if (iterator->taken == iterator->buffered) {
			if (iterator->index == iterator->bound) {
				*found = false;
				return NULL;
			}
			struct rcore_error *err = fill(iterator);
			if (err)
				return err;
		}
		const unsigned char *entry = iterator->buffer + iterator->taken++ * size;
		if (!rcore_field_of(entry, size, &layout->st_entry.hash, &hash) ||
		    !rcore_field_of(entry, size, &layout->st_entry.key, key) ||
		    !rcore_field_of(entry, size, &layout->st_entry.record, record))
			return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
						  "layout %s has no st_table_entry",
						  layout->name);
		if (hash != DELETED) {
			*found = true;
			return NULL;
		}
	}
}
