/* SPDX-License-Identifier: MIT */
#include "ruby/object/id_table.h"

#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/object/string.h"

struct rcore_error *rcore_id_table_begin(struct rcore_id_iterator *iterator,
					 struct rcore_ruby *ruby, uint64_t table)
{
	uint64_t capacity, count, items;
	struct rcore_error *err;
	if ((err = RCORE_GET(ruby, table, id_table, capacity, &capacity)) ||
	    (err = RCORE_GET(ruby, table, id_table, count, &count)) ||
	    (err = RCORE_GET(ruby, table, id_table, items, &items)))
		return err;
	/* Both are int. */
	if (capacity > INT32_MAX || count > capacity || !ruby->layout->id_item.size)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no rb_id_table at 0x%" PRIx64,
					  table);
	if (capacity > RCORE_ID_TABLE_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "rb_id_table 0x%" PRIx64 " has %" PRIu64 " places",
					  table, capacity);
	*iterator =
		(struct rcore_id_iterator){.ruby = ruby, .items = items, .capacity = capacity};
	return NULL;
}

struct rcore_error *rcore_id_table_next(struct rcore_id_iterator *iterator, bool *found,
					uint64_t *serial, uint64_t *value)
{
	struct rcore_ruby *ruby = iterator->ruby;
	while (iterator->index < iterator->capacity) {
		uint64_t item =
			iterator->items + iterator->index++ * ruby->layout->id_item.size;
		struct rcore_error *err = RCORE_GET(ruby, item, id_item, key, serial);
		if (err)
			return err;
		if (!*serial)
			continue;
		*found = true;
		return RCORE_GET(ruby, item, id_item, value, value);
	}
	*found = false;
	return NULL;
}

/* Finds the String that is the name of the ID with this serial. */
static struct rcore_error *string_of(struct rcore_ruby *ruby, uint64_t serial, uint64_t *ret)
{
	uint64_t ids;
	if (!ruby->global_symbols)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the symbol table (global_symbols) was not found");
	struct rcore_error *err = RCORE_GET(ruby, ruby->global_symbols, symbols, ids, &ids);
	if (!err)
		err = rcore_serial_string(ruby, ids, serial, ret);
	if (!err && rcore_is_nil(ruby, *ret))
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "no ID has serial %" PRIu64,
					 serial);
	return err;
}

struct rcore_error *rcore_serial_name(struct rcore_ruby *ruby, uint64_t serial,
				      const char **ret)
{
	uint64_t string;
	struct rcore_error *err = string_of(ruby, serial, &string);
	return err ? err : rcore_string(ruby, string, ret, NULL);
}

/* An ID without a name does not match any name. */
static struct rcore_error *is_called(struct rcore_ruby *ruby, uint64_t serial, const char *name,
				     bool *ret)
{
	uint64_t string;
	*ret = false;
	struct rcore_error *err = string_of(ruby, serial, &string);
	if (!err)
		return rcore_string_is(ruby, string, name, ret);
	if (err->code != RCORE_ERROR_CORRUPT)
		return err;
	rcore_error_free(err);
	return NULL;
}

struct rcore_error *rcore_id_table_find(struct rcore_ruby *ruby, uint64_t table,
					const char *name, bool *found, uint64_t *ret)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, value;
	/* The error of the first name that could not be read. */
	struct rcore_error *unread = NULL;
	struct rcore_error *err = rcore_id_table_begin(&iterator, ruby, table);
	*found = false;
	while (!err && !(err = rcore_id_table_next(&iterator, found, &serial, &value)) &&
	       *found) {
		bool same;
		struct rcore_error *lost = is_called(ruby, serial, name, &same);
		if (unread)
			rcore_error_free(lost);
		else
			unread = lost;
		if (same) {
			rcore_error_free(unread);
			*ret = value;
			return NULL;
		}
	}
	*found = false;
	if (!err)
		return unread;
	rcore_error_free(unread);
	return err;
}
