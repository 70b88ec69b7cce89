/* SPDX-License-Identifier: MIT */
#include "ruby/inspect/printed.h"

#include <stdlib.h>

#include "ruby/object/array.h"
#include "ruby/object/data.h"
#include "ruby/object/hash.h"
#include "ruby/symbol/id.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/ivar.h"
#include "ruby/object/struct.h"
#include "ruby/object/string.h"

struct printer {
	struct rcore_ruby *ruby;
	const struct rcore_inspect_options *options;
	uint64_t limit; /* for the number of items */
	struct rcore_printed *printed;
};

static void *room(struct printer *printer, uint64_t count, size_t size,
		  struct rcore_error **err)
{
	void *room = rcore_arena_array(printer->ruby->arena, count, size);
	if (!room)
		*err = rcore_error_no_memory();
	return room;
}

static struct rcore_error *inspect(struct printer *printer, uint64_t value,
				   struct rcore_value *ret)
{
	return rcore_inspect(printer->ruby, value, printer->options, ret);
}

static struct rcore_error *begin_items(struct printer *printer, uint64_t total)
{
	struct rcore_error *err = NULL;
	uint64_t count = total < printer->limit ? total : printer->limit;
	printer->printed->item_total = total;
	printer->printed->items = room(printer, count, sizeof(*printer->printed->items), &err);
	return err;
}

static struct rcore_error *print_array(struct printer *printer, uint64_t array)
{
	struct rcore_printed *printed = printer->printed;
	uint64_t elements, total, element;
	struct rcore_error *err = rcore_array(printer->ruby, array, &elements, &total);
	if (!err)
		err = begin_items(printer, total);
	while (!err && printed->item_count < total && printed->item_count < printer->limit) {
		err = rcore_array_at(printer->ruby, array, printed->item_count, &element);
		if (!err)
			err = inspect(printer, element,
				      &printed->items[printed->item_count].value);
		if (!err)
			printed->item_count++;
	}
	return err;
}

static struct rcore_error *print_hash(struct printer *printer, uint64_t hash)
{
	struct rcore_printed *printed = printer->printed;
	struct rcore_hash_iterator pairs;
	uint64_t key, value;
	bool found;
	struct rcore_error *err = rcore_hash_begin(&pairs, printer->ruby, hash);
	if (!err)
		err = begin_items(printer, pairs.count);
	while (!err && printed->item_count < printer->limit &&
	       printed->item_count < pairs.count &&
	       !(err = rcore_hash_next(&pairs, &found, &key, &value)) && found) {
		struct rcore_element *item = &printed->items[printed->item_count];
		item->has_key = true;
		err = inspect(printer, key, &item->key);
		bool has_key = rcore_inspect_is_text(printer->ruby, key);
		if (!err)
			err = (has_key ? rcore_inspect_below_key : rcore_inspect)(
				printer->ruby, value, printer->options, &item->value);
		if (!err)
			printed->item_count++;
	}
	return err;
}

static struct rcore_error *print_struct(struct printer *printer, uint64_t object)
{
	struct rcore_printed *printed = printer->printed;
	struct rcore_ruby *ruby = printer->ruby;
	uint64_t members, count, names = 0, name, value;
	struct rcore_error *err = rcore_struct(ruby, object, &members, &count);
	if (!err)
		err = rcore_struct_members(ruby, object, &names);
	if (!err && count > printer->limit)
		count = printer->limit;
	if (!err)
		printed->variables = room(printer, count, sizeof(*printed->variables), &err);
	for (uint64_t i = 0; i < count && !err; i++) {
		struct rcore_variable *variable = &printed->variables[i];
		bool is_symbol;
		uint64_t string;
		err = rcore_array_at(ruby, names, i, &name);
		if (!err)
			err = rcore_symbol_string(ruby, name, &is_symbol, &string);
		if (!err && is_symbol)
			err = rcore_string(ruby, string, &variable->name, NULL);
		if (!err &&
		    rcore_read_u64(ruby->memory, members + i * 8, &value) == RCORE_FAULT_NONE)
			err = inspect(printer, value, &variable->value);
		if (!err)
			printed->variable_count++;
	}
	return err;
}

static struct rcore_error *print_ivars(struct printer *printer, uint64_t object)
{
	struct rcore_printed *printed = printer->printed;
	struct rcore_ivars ivars = {0};
	struct rcore_error *err = rcore_ivars(printer->ruby, object, printer->limit, &ivars);
	struct rcore_error *memory = NULL;
	printed->variables = room(printer, ivars.count, sizeof(*printed->variables), &memory);
	for (size_t i = 0; i < ivars.count && !memory; i++) {
		struct rcore_variable *variable = &printed->variables[printed->variable_count];
		if (!rcore_ivar_is_visible(printer->ruby, ivars.items[i].id))
			continue;
		rcore_error_free(
			rcore_id_name(printer->ruby, ivars.items[i].id, &variable->name));
		memory = inspect(printer, ivars.items[i].value, &variable->value);
		printed->variable_count++;
	}
	free(ivars.items);
	if (!memory)
		return err;
	rcore_error_free(err);
	return memory;
}

static struct rcore_error *print_contents(struct printer *printer, uint64_t value,
					  enum rcore_type type)
{
	struct rcore_data data;
	struct rcore_error *err = NULL;
	switch (type) {
	case RCORE_T_ARRAY:
		return print_array(printer, value);
	case RCORE_T_HASH:
		return print_hash(printer, value);
	case RCORE_T_STRUCT:
		return print_struct(printer, value);
	case RCORE_T_DATA:
		err = rcore_data(printer->ruby, value, &data);
		if (err)
			return err;
		printer->printed->data_type = data.type_name;
		return print_ivars(printer, value);
	case RCORE_T_NONE:
	case RCORE_T_IMEMO:
	case RCORE_T_NODE:
	case RCORE_T_ICLASS:
	case RCORE_T_ZOMBIE:
	case RCORE_T_MOVED:
		return NULL;
	default:
		return print_ivars(printer, value);
	}
}

struct rcore_error *rcore_print_value(struct rcore_ruby *ruby, uint64_t value,
				      const struct rcore_inspect_options *options,
				      struct rcore_printed *ret)
{
	unsigned limit =
		options && options->max_items ? options->max_items : RCORE_INSPECT_MAX_ITEMS;
	struct printer printer = {ruby, options, limit, ret};
	enum rcore_type type;
	*ret = (struct rcore_printed){0};
	struct rcore_error *err = rcore_inspect(ruby, value, options, &ret->value);
	if (err)
		return err;
	if (rcore_immediate(ruby, value) != RCORE_NO_IMMEDIATE) {
		ret->type = "immediate";
		return NULL;
	}
	err = rcore_type(ruby, value, &type);
	if (err) { /* the inspect has the problem */
		rcore_error_free(err);
		return NULL;
	}
	ret->type = rcore_type_name(type);
	err = print_contents(&printer, value, type);
	return rcore_arena_keep_problem(ruby->arena, err, &ret->problem);
}
