/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/get.h"
#include "ruby/object/hash.h"
#include "ruby/inspect/inspect_types.h"
#include "ruby/object/ivar.h"

/*
 * Up to 3.4, a Set is an object of a class written in Ruby, whose @hash has the
 * members as keys. From 4.0 on, it is a T_DATA "set" with a table of its own,
 * like a st_table that only has keys. Mirrors lib/set.rb; set.c and
 * internal/set_table.h.
 */
static struct rcore_error *next_key(struct rcore_inspect *inspect,
				    struct rcore_inspect_frame *frame, bool *more,
				    uint64_t *child)
{
	uint64_t value;
	bool found;
	*more = rcore_inspect_item(inspect, frame);
	if (!*more)
		return NULL;
	struct rcore_error *err = rcore_hash_next(frame->state, &found, child, &value);
	if (!err && !found)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "a Set has fewer members than it counts");
	return err;
}

struct rcore_error *rcore_inspect_old_set(struct rcore_inspect *inspect, uint64_t value,
					  uint64_t flags)
{
	uint64_t hash;
	bool found = false, is_cycle = rcore_inspect_is_open(inspect, value);
	struct rcore_error *err = rcore_ivar_get(inspect->ruby, value, "@hash", &found, &hash);
	if (!err && !found)
		return rcore_inspect_default(inspect, value, flags);
	struct rcore_hash_iterator *iterator = err ? NULL : malloc(sizeof(*iterator));
	if (!err)
		err = iterator ? rcore_hash_begin(iterator, inspect->ruby, hash)
			       : rcore_error_no_memory();
	if (err) {
		free(iterator);
		return err;
	}
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	if (is_cycle) {
		free(iterator);
		rcore_inspect_puts(inspect, ": {...}>");
		return NULL;
	}
	rcore_inspect_puts(inspect, ": {");
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next_key,
						   .count = iterator->count,
						   .close = "}>",
						   .state = iterator,
					   });
}

enum {
	ENTRIES,
	INDEX,
	BOUND
}; /* in frame->data: the table's entries, the next one, and their end */
enum { ENTRY_LIMIT = 1 << 28 };

static struct rcore_error *next_entry(struct rcore_inspect *inspect,
				      struct rcore_inspect_frame *frame, bool *more,
				      uint64_t *child)
{
	struct rcore_ruby *ruby = inspect->ruby;
	*more = rcore_inspect_item(inspect, frame);
	if (!*more)
		return NULL;
	while (frame->data[INDEX] < frame->data[BOUND]) {
		uint64_t hash, entry = frame->data[ENTRIES] +
				       frame->data[INDEX]++ * ruby->layout->set_entry.size;
		struct rcore_error *err = RCORE_GET(ruby, entry, set_entry, hash, &hash);
		if (!err && hash == UINT64_MAX) /* RESERVED_HASH_VAL: deleted */
			continue;
		return err ? err : RCORE_GET(ruby, entry, set_entry, key, child);
	}
	return rcore_error_create(RCORE_ERROR_CORRUPT,
				  "a Set has fewer members than it counts");
}

struct rcore_error *rcore_inspect_set(struct rcore_inspect *inspect, uint64_t value,
				      uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	struct rcore_inspect_frame frame = {.value = value, .next = next_entry};
	const char *name;
	struct rcore_error *err = RCORE_GET(ruby, data, set_table, num_entries, &frame.count);
	if (!err)
		err = RCORE_GET(ruby, data, set_table, entries_start, &frame.data[INDEX]);
	if (!err)
		err = RCORE_GET(ruby, data, set_table, entries_bound, &frame.data[BOUND]);
	if (!err)
		err = RCORE_GET(ruby, data, set_table, entries, &frame.data[ENTRIES]);
	if (!err && (frame.data[INDEX] > frame.data[BOUND] || frame.data[BOUND] > ENTRY_LIMIT ||
		     frame.count > frame.data[BOUND] - frame.data[INDEX]))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "Set 0x%" PRIx64 " has an invalid table", value);
	if (err)
		return err;
	err = rcore_value_class_name(ruby, value, &name);
	if (err)
		return err;
	/* A class derived from Set is printed as before. */
	bool is_plain = strcmp(name, "Set") == 0;
	rcore_inspect_printf(inspect, is_plain ? "%s[" : "#<%s: {", name);
	frame.close = is_plain ? "]" : "}>";
	if (!rcore_inspect_is_open(inspect, value))
		return rcore_inspect_open(inspect, &frame);
	rcore_inspect_printf(inspect, "...%s", frame.close);
	return NULL;
}
