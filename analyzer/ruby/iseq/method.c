/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/method.h"

#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/symbol/id.h"

static struct rcore_error *no_method_entry(uint64_t address)
{
	return rcore_error_create(RCORE_ERROR_CORRUPT, "no method entry at 0x%" PRIx64,
				  address);
}

static struct rcore_error *read_entry(struct rcore_ruby *ruby, uint64_t address,
				      struct rcore_method_entry *entry)
{
	uint64_t flags, definition, type;
	struct rcore_error *err = rcore_flags(ruby, address, &flags);
	if (err)
		return err;
	if (rcore_imemo_type(flags) != (int)ruby->layout->traits.imemo_ment)
		return no_method_entry(address);
	entry->address = address;
	if ((err = RCORE_GET(ruby, address, cme, defined_class, &entry->defined_class)) ||
	    (err = RCORE_GET(ruby, address, cme, owner, &entry->owner)) ||
	    (err = RCORE_GET(ruby, address, cme, called_id, &entry->called_id)) ||
	    (err = RCORE_GET(ruby, address, cme, def, &definition)) ||
	    (err = RCORE_GET(ruby, definition, method_def, type, &type)) ||
	    (err = RCORE_GET(ruby, definition, method_def, original_id, &entry->original_id)))
		return err;
	if (type > RCORE_METHOD_REFINED)
		return no_method_entry(address);
	entry->type = (enum rcore_method_type)type;
	if (type == RCORE_METHOD_ISEQ)
		err = RCORE_GET(ruby, definition, method_def, iseqptr, &entry->iseq);
	else if (type == RCORE_METHOD_CFUNC)
		err = RCORE_GET(ruby, definition, method_def, cfunc_func, &entry->cfunc);
	return err;
}

static struct rcore_error *read_name(struct rcore_ruby *ruby, struct rcore_method_entry *entry)
{
	struct rcore_error *err = rcore_id_name(ruby, entry->original_id, &entry->name);
	return rcore_arena_keep_problem(ruby->arena, err, &entry->problem);
}

struct rcore_error *rcore_method_entry(struct rcore_ruby *ruby, uint64_t address,
				       const struct rcore_method_entry **ret)
{
	struct rcore_method_entry *entry = rcore_cache_get(&ruby->methods, address, 0);
	if (!entry) {
		struct rcore_method_entry fresh = {0};
		struct rcore_error *err = read_entry(ruby, address, &fresh);
		if (err)
			return rcore_error_wrap(err, "method entry 0x%" PRIx64, address);
		err = read_name(ruby, &fresh);
		if (err)
			return err;
		entry = rcore_arena_alloc(&ruby->scratch, sizeof(*entry));
		if (!entry)
			return rcore_error_no_memory();
		*entry = fresh;
		if (!rcore_cache_put(&ruby->methods, &ruby->scratch, address, 0, entry))
			return rcore_error_no_memory();
	}
	*ret = entry;
	return NULL;
}
