/* SPDX-License-Identifier: MIT */
#include "ruby/symbol/id.h"

#include <inttypes.h>

#include "ruby/object/array.h"
#include "ruby/get.h"
#include "ruby/object/string.h"

/*
 * ID_ENTRY_UNIT and ID_ENTRY_SIZE of symbol.c: a serial's String and Symbol are
 * adjacent.
 */
enum { ENTRY_UNIT = 512, ENTRY_SIZE = 2 };

enum { SERIAL_LIMIT = 5000000 };

/* Like rb_ary_entry: nothing past the end. */
static struct rcore_error *entry(struct rcore_ruby *ruby, uint64_t array, uint64_t index,
				 uint64_t *ret)
{
	uint64_t elements, length;
	struct rcore_error *err = rcore_array(ruby, array, &elements, &length);
	if (err || index >= length)
		return err;
	uint64_t address = elements + index * sizeof(*ret);
	enum rcore_fault fault = rcore_read_u64(ruby->memory, address, ret);
	return fault == RCORE_FAULT_NONE
		       ? NULL
		       : rcore_fault_error(fault, "symbol table", address, sizeof(*ret));
}

/* Which of the two to read. */
enum member { STRING, SYMBOL };

static struct rcore_error *member_of(struct rcore_ruby *ruby, uint64_t ids, uint64_t serial,
				     enum member member, uint64_t *ret)
{
	uint64_t unit = 0;
	*ret = 0;
	struct rcore_error *err = entry(ruby, ids, serial / ENTRY_UNIT, &unit);
	if (err || rcore_is_nil(ruby, unit))
		return err;
	return entry(ruby, unit, serial % ENTRY_UNIT * ENTRY_SIZE + member, ret);
}

struct rcore_error *rcore_serial_string(struct rcore_ruby *ruby, uint64_t ids, uint64_t serial,
					uint64_t *ret)
{
	return member_of(ruby, ids, serial, STRING, ret);
}

static struct rcore_error *read_table(struct rcore_ruby *ruby, uint64_t *ret_ids,
				      uint64_t *ret_last)
{
	if (!ruby->global_symbols)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the symbol table (global_symbols) was not found");
	struct rcore_error *err =
		RCORE_GET(ruby, ruby->global_symbols, symbols, last_id, ret_last);
	return err ? err : RCORE_GET(ruby, ruby->global_symbols, symbols, ids, ret_ids);
}

/* Finds the String that names an ID; *ret is 0 if there is no such ID. */
static struct rcore_error *id_string(struct rcore_ruby *ruby, uint64_t id, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t last, ids, string;
	struct rcore_error *err = read_table(ruby, &ids, &last);
	if (err)
		return err;
	uint64_t serial = id > (uint64_t)layout->constant.last_op_id
				  ? id >> (layout->constant.id_scope_shift & 63)
				  : id;
	if (!serial || serial > last) {
		*ret = 0;
		return NULL;
	}
	err = rcore_serial_string(ruby, ids, serial, &string);
	if (err)
		return rcore_error_wrap(err, "name of ID 0x%" PRIx64, id);
	*ret = rcore_is_nil(ruby, string) ? 0 : string;
	return NULL;
}

struct rcore_error *rcore_id_string(struct rcore_ruby *ruby, uint64_t id, uint64_t *ret)
{
	uint64_t string;
	struct rcore_error *err = id_string(ruby, id, &string);
	if (!err && !string)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "no symbol has the ID 0x%" PRIx64,
					 id);
	if (!err)
		*ret = string;
	return err;
}

struct rcore_error *rcore_symbol_string(struct rcore_ruby *ruby, uint64_t value,
					bool *is_symbol, uint64_t *ret)
{
	enum rcore_type type;
	enum rcore_immediate kind = rcore_immediate(ruby, value);
	*is_symbol = kind == RCORE_STATIC_SYMBOL;
	if (*is_symbol)
		return rcore_id_string(ruby, value >> RCORE_SPECIAL_SHIFT, ret);
	if (kind != RCORE_NO_IMMEDIATE)
		return NULL;
	struct rcore_error *err = rcore_type(ruby, value, &type);
	*is_symbol = !err && type == RCORE_T_SYMBOL;
	return *is_symbol ? RCORE_GET(ruby, value, symbol, fstr, ret) : err;
}

struct rcore_error *rcore_id_name(struct rcore_ruby *ruby, uint64_t id, const char **ret)
{
	uint64_t string;
	const char *name = rcore_cache_get(&ruby->names, id, 0);
	if (name) {
		*ret = name;
		return NULL;
	}
	struct rcore_error *err = rcore_id_string(ruby, id, &string);
	if (err)
		return err;
	err = rcore_string(ruby, string, &name, NULL);
	if (err)
		return rcore_error_wrap(err, "name of ID 0x%" PRIx64, id);
	if (!rcore_cache_put(&ruby->names, &ruby->scratch, id, 0, (void *)name))
		return rcore_error_no_memory();
	*ret = name;
	return NULL;
}

struct rcore_error *rcore_id_is(struct rcore_ruby *ruby, uint64_t id, const char *expected,
				bool *ret)
{
	uint64_t string;
	struct rcore_error *err = id_string(ruby, id, &string);
	if (err)
		return err;
	if (!string) {
		*ret = false;
		return NULL;
	}
	return rcore_string_is(ruby, string, expected, ret);
}

/*
 * Finds the ID of a Symbol in the table. The ID of a static Symbol is its VALUE
 * without the tag. A dynamic one has it in its object; 0 until it is used as an
 * ID.
 */
static struct rcore_error *symbol_id(struct rcore_ruby *ruby, uint64_t ids, uint64_t serial,
				     uint64_t *ret)
{
	uint64_t value;
	struct rcore_error *err = member_of(ruby, ids, serial, SYMBOL, &value);
	if (err)
		return err;
	if (rcore_immediate(ruby, value) == RCORE_STATIC_SYMBOL)
		*ret = value >> RCORE_SPECIAL_SHIFT;
	else if (rcore_is_object(ruby, value))
		err = RCORE_GET(ruby, value, symbol, id, ret);
	return err;
}

struct rcore_error *rcore_id_find(struct rcore_ruby *ruby, const char *name, uint64_t *ret)
{
	uint64_t ids, last;
	struct rcore_error *err = read_table(ruby, &ids, &last);
	*ret = 0;
	if (!err && last > SERIAL_LIMIT)
		err = rcore_error_create(RCORE_ERROR_LIMIT,
					 "%" PRIu64 " symbols; rcore looks at %d", last,
					 SERIAL_LIMIT);
	for (uint64_t serial = 1; !err && !*ret && serial <= last; serial++) {
		uint64_t string;
		bool is_name = false;
		err = rcore_serial_string(ruby, ids, serial, &string);
		if (!err && rcore_is_object(ruby, string))
			err = rcore_string_is(ruby, string, name, &is_name);
		if (!err && is_name)
			err = symbol_id(ruby, ids, serial, ret);
		/* A running process may be adding this one. */
		err = rcore_error_forgive(err);
	}
	return err;
}
