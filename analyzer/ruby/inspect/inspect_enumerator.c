/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "ruby/object/array.h"
#include "ruby/object/data.h"
#include "ruby/get.h"
#include "ruby/object/hash.h"
#include "ruby/symbol/id.h"
#include "ruby/inspect/inspect_types.h"
#include "ruby/object/ivar.h"

/*
 * An Enumerator prints its receiver, its method and the arguments, which are in
 * its struct or in hidden ivars ("receiver", "method", "arguments"). A lazy one
 * has an entry with such ivars for each step (map, select ...), and is printed
 * as nested lazy enumerators:
 *
 *	#<Enumerator::Lazy: #<Enumerator::Lazy: 1..3>:map>
 *
 * Mirrors inspect_enumerator, append_method, arith_seq_inspect of enumerator.c.
 */
enum { ARGUMENT_LIMIT = 1 << 16 };

static struct rcore_error *add_keyword(struct rcore_inspect_items *items,
				       struct rcore_ruby *ruby, uint64_t key, uint64_t value)
{
	bool is_symbol;
	uint64_t name;
	struct rcore_error *err = rcore_symbol_string(ruby, key, &is_symbol, &name);
	if (!err && !is_symbol)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "a keyword is not a Symbol");
	if (!err)
		err = rcore_inspect_add_string(items, name);
	if (!err)
		err = rcore_inspect_add_text(items, ": ");
	return err ? err : rcore_inspect_add_value(items, value);
}

/*
 * Whether `value` is a Hash that is not empty and has only Symbols as keys.
 * Such a Hash is printed as keywords if it is the last argument.
 */
static bool are_keywords(struct rcore_ruby *ruby, uint64_t value)
{
	struct rcore_hash_iterator pairs;
	uint64_t key, content, name;
	enum rcore_type type;
	bool found = true, is_symbol = false;
	if (!rcore_is_object(ruby, value))
		return false;
	struct rcore_error *err = rcore_type(ruby, value, &type);
	if (!err && type != RCORE_T_HASH)
		return false;
	if (!err)
		err = rcore_hash_begin(&pairs, ruby, value);
	while (!err && !(err = rcore_hash_next(&pairs, &found, &key, &content)) && found) {
		err = rcore_symbol_string(ruby, key, &is_symbol, &name);
		if (!err && !is_symbol)
			return false;
	}
	rcore_error_free(err);
	return !err && is_symbol;
}

static struct rcore_error *add_keywords(struct rcore_inspect_items *items,
					struct rcore_ruby *ruby, uint64_t hash,
					const char *separator)
{
	struct rcore_hash_iterator pairs;
	uint64_t key, value;
	bool found;
	struct rcore_error *err = rcore_hash_begin(&pairs, ruby, hash);
	while (!err && !(err = rcore_hash_next(&pairs, &found, &key, &value)) && found) {
		err = rcore_inspect_add_text(items, separator);
		if (!err)
			err = add_keyword(items, ruby, key, value);
		separator = ", ";
	}
	return err;
}

static struct rcore_error *add_arguments(struct rcore_inspect_items *items,
					 struct rcore_ruby *ruby, uint64_t array)
{
	uint64_t elements, count, value;
	struct rcore_error *err = rcore_array(ruby, array, &elements, &count);
	if (err || !count)
		return err;
	if (count > ARGUMENT_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d arguments",
					  ARGUMENT_LIMIT);
	for (uint64_t i = 0; i < count && !err; i++) {
		const char *separator = i ? ", " : "(";
		err = rcore_array_at(ruby, array, i, &value);
		if (!err && i + 1 == count && are_keywords(ruby, value)) {
			err = add_keywords(items, ruby, value, separator);
		} else if (!err) {
			err = rcore_inspect_add_text(items, separator);
			if (!err)
				err = rcore_inspect_add_value(items, value);
		}
	}
	return err ? err : rcore_inspect_add_text(items, ")");
}

/*
 * Reads a hidden ivar of the enumerator or of an entry; *ret is 0 if it is nil
 * or does not exist.
 */
static struct rcore_error *hidden(struct rcore_ruby *ruby, uint64_t object, const char *name,
				  bool *is_false, uint64_t *ret)
{
	bool found = false;
	uint64_t value = 0;
	struct rcore_error *err = rcore_ivar_get(ruby, object, name, &found, &value);
	*is_false = !err && found && value == 0;
	*ret = err || !found || rcore_is_nil(ruby, value) ? 0 : value;
	return err;
}

/* ":map(1)" */
static struct rcore_error *add_method(struct rcore_inspect_items *items,
				      struct rcore_ruby *ruby, uint64_t owner, uint64_t data,
				      const char *sign)
{
	bool no_method = false, no_arguments = false, is_symbol = true;
	uint64_t method = 0, arguments = 0, id, name;
	struct rcore_error *err = hidden(ruby, owner, "method", &no_method, &method);
	if (!err)
		err = hidden(ruby, owner, "arguments", &no_arguments, &arguments);
	if (!err && !method)
		err = RCORE_GET(ruby, data, enumerator, meth, &id);
	if (!err && !no_method)
		err = method ? rcore_symbol_string(ruby, method, &is_symbol, &name)
			     : rcore_id_string(ruby, id, &name);
	if (!err && !is_symbol)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "a method's name is not a Symbol");
	if (!err && !no_method)
		err = rcore_inspect_add_text(items, sign);
	if (!err && !no_method)
		err = rcore_inspect_add_string(items, name);
	if (!err && !arguments && !no_arguments)
		err = RCORE_GET(ruby, data, enumerator, args, &arguments);
	return err || !arguments ? err : add_arguments(items, ruby, arguments);
}

/* "((1..10).step(2))": a receiver that is not a Range gets no parentheses. */
static struct rcore_error *arithmetic(struct rcore_inspect_items *items,
				      struct rcore_ruby *ruby, uint64_t value, uint64_t data,
				      uint64_t receiver)
{
	enum rcore_type type = RCORE_T_NONE;
	struct rcore_error *err = NULL;
	if (rcore_is_object(ruby, receiver))
		err = rcore_type(ruby, receiver, &type);
	bool is_range = type == RCORE_T_STRUCT;
	if (!err)
		err = rcore_inspect_add_text(items, is_range ? "((" : "(");
	if (!err)
		err = rcore_inspect_add_value(items, receiver);
	if (!err && is_range)
		err = rcore_inspect_add_text(items, ")");
	if (!err)
		err = add_method(items, ruby, value, data, ".");
	return err ? err : rcore_inspect_add_text(items, ")");
}

static struct rcore_error *plain(struct rcore_inspect_items *items, struct rcore_ruby *ruby,
				 uint64_t value, uint64_t data, uint64_t receiver,
				 const char *name)
{
	struct rcore_error *err = rcore_inspect_add_text(items, "#<");
	if (!err)
		err = rcore_inspect_add_text(items, name);
	if (!err)
		err = rcore_inspect_add_text(items, ": ");
	if (!err)
		err = rcore_inspect_add_value(items, receiver);
	if (!err)
		err = add_method(items, ruby, value, data, ":");
	return err ? err : rcore_inspect_add_text(items, ">");
}

/* Reads `procs`, the steps of a lazy enumerator; the outermost is the last. */
static struct rcore_error *lazy(struct rcore_inspect_items *items, struct rcore_ruby *ruby,
				uint64_t data, uint64_t generator, uint64_t procs,
				const char *name)
{
	uint64_t elements, steps, source, entry;
	bool found = false;
	const char *source_class = NULL;
	struct rcore_error *err = rcore_array(ruby, procs, &elements, &steps);
	uint64_t generator_data = 0;
	if (!err)
		err = rcore_data_is(ruby, generator, "generator", &found, &generator_data);
	if (!err && (!found || !generator_data))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "a lazy Enumerator has no generator");
	if (!err)
		err = RCORE_GET(ruby, generator_data, generator, obj, &source);
	if (!err)
		err = rcore_value_class_name(ruby, source, &source_class);
	bool is_wrapped = !err && strcmp(source_class, name) == 0;
	for (uint64_t i = is_wrapped; i <= steps && !err; i++) {
		err = rcore_inspect_add_text(items, "#<");
		if (!err)
			err = rcore_inspect_add_text(items, name);
		if (!err)
			err = rcore_inspect_add_text(items, ": ");
	}
	if (!err)
		err = rcore_inspect_add_value(items, source);
	if (!err && !is_wrapped)
		err = rcore_inspect_add_text(items, ">");
	for (uint64_t i = 0; i < steps && !err; i++) {
		err = rcore_array_at(ruby, procs, i, &entry);
		if (!err)
			err = add_method(items, ruby, entry, data, ":");
		if (!err)
			err = rcore_inspect_add_text(items, ">");
	}
	return err;
}

struct rcore_error *rcore_inspect_enumerator(struct rcore_inspect *inspect, uint64_t value,
					     uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	struct rcore_inspect_items items = {0};
	uint64_t object, procs, receiver;
	const char *name;
	bool is_false;
	struct rcore_error *err = RCORE_GET(ruby, data, enumerator, obj, &object);
	if (!err)
		err = RCORE_GET(ruby, data, enumerator, procs, &procs);
	if (!err)
		err = rcore_value_class_name(ruby, value, &name);
	if (!err)
		err = hidden(ruby, value, "receiver", &is_false, &receiver);
	if (err)
		return err;
	if (rcore_immediate(ruby, object) == RCORE_UNDEF) {
		rcore_inspect_printf(inspect, "#<%s: uninitialized>", name);
		return NULL;
	}
	if (rcore_inspect_is_open(inspect, value)) {
		rcore_inspect_printf(inspect, "#<%s: ...>", name);
		return NULL;
	}
	receiver = receiver ? receiver : object;
	if (strcmp(name, "Enumerator::ArithmeticSequence") == 0)
		err = arithmetic(&items, ruby, value, data, receiver);
	else if (procs && !rcore_is_nil(ruby, procs))
		err = lazy(&items, ruby, data, object, procs, name);
	else
		err = plain(&items, ruby, value, data, receiver, name);
	return rcore_inspect_open_items(inspect, value, &items, err);
}

/* Enumerator::Chain, Enumerator::Product: "#<Enumerator::Chain: [...]>" */
struct rcore_error *rcore_inspect_enumerators(struct rcore_inspect *inspect, uint64_t value,
					      uint64_t data)
{
	struct rcore_inspect_items items = {0};
	const char *name;
	uint64_t enums;
	struct rcore_error *err = RCORE_GET(inspect->ruby, data, enum_chain, enums, &enums);
	if (!err)
		err = rcore_value_class_name(inspect->ruby, value, &name);
	if (err)
		return err;
	if (rcore_inspect_is_open(inspect, value)) {
		rcore_inspect_printf(inspect, "#<%s: ...>", name);
		return NULL;
	}
	rcore_inspect_printf(inspect, "#<%s: ", name);
	err = rcore_inspect_add_value(&items, enums);
	if (!err)
		err = rcore_inspect_add_text(&items, ">");
	return rcore_inspect_open_items(inspect, value, &items, err);
}
