/* SPDX-License-Identifier: MIT */
#include "ruby/inspect/member.h"

#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/array.h"
#include "ruby/object/hash.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"
#include "ruby/object/struct.h"
#include "ruby/symbol/id.h"

enum { MEMBER_LIMIT = 1 << 16 };

static struct rcore_error *of_array(struct rcore_ruby *ruby, uint64_t array, const char *name,
				    bool *found, uint64_t *ret)
{
	uint64_t elements, length;
	char *end;
	if (*name != '[')
		return NULL;
	unsigned long long index = strtoull(name + 1, &end, 10);
	if (end == name + 1 || strcmp(end, "]") != 0)
		return NULL;
	struct rcore_error *err = rcore_array(ruby, array, &elements, &length);
	if (err || index >= length)
		return err;
	*found = true;
	return rcore_array_at(ruby, array, index, ret);
}

static struct rcore_error *of_struct(struct rcore_ruby *ruby, uint64_t object, const char *name,
				     bool *found, uint64_t *ret)
{
	uint64_t members, count, names, symbol, string;
	const char *text;
	struct rcore_error *err = rcore_struct(ruby, object, &members, &count);
	if (!err)
		err = rcore_struct_members(ruby, object, &names);
	for (uint64_t i = 0; !err && i < count && i < MEMBER_LIMIT; i++) {
		bool is_symbol = false;
		err = rcore_array_at(ruby, names, i, &symbol);
		if (!err)
			err = rcore_symbol_string(ruby, symbol, &is_symbol, &string);
		if (!err && is_symbol)
			err = rcore_string(ruby, string, &text, NULL);
		if (err || !is_symbol || strcmp(text, name) != 0)
			continue;
		uint64_t at = members + i * sizeof(*ret);
		enum rcore_fault fault = rcore_read_u64(ruby->memory, at, ret);
		*found = fault == RCORE_FAULT_NONE;
		return *found ? NULL : rcore_fault_error(fault, "member", at, sizeof(*ret));
	}
	return err;
}

static struct rcore_error *of_hash(struct rcore_ruby *ruby, uint64_t hash, const char *name,
				   bool *found, uint64_t *ret)
{
	static const struct rcore_inspect_options options = {.depth = RCORE_NO_DEPTH};
	const struct rcore_condition wanted = {.value = name};
	struct rcore_hash_iterator pairs;
	uint64_t key, value;
	bool more = true;
	struct rcore_error *err = rcore_hash_begin(&pairs, ruby, hash);
	for (size_t i = 0; !err && i < MEMBER_LIMIT; i++) {
		struct rcore_value printed = {0};
		err = rcore_hash_next(&pairs, &more, &key, &value);
		if (err || !more)
			break;
		err = rcore_inspect(ruby, key, &options, &printed);
		if (err || !rcore_condition_is_met(&wanted, printed.text))
			continue;
		*found = true;
		*ret = value;
		break;
	}
	return err;
}

struct rcore_error *rcore_member(struct rcore_ruby *ruby, uint64_t object, const char *name,
				 bool *found, uint64_t *ret)
{
	enum rcore_type type;
	*found = false;
	struct rcore_error *err = rcore_type(ruby, object, &type);
	if (err)
		return err;
	if (*name == '@')
		return rcore_ivar_get(ruby, object, name, found, ret);
	switch (type) {
	case RCORE_T_ARRAY:
		return of_array(ruby, object, name, found, ret);
	case RCORE_T_STRUCT:
		return of_struct(ruby, object, name, found, ret);
	case RCORE_T_HASH:
		return of_hash(ruby, object, name, found, ret);
	default:
		return NULL;
	}
}
