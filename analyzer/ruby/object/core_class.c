/* SPDX-License-Identifier: MIT */
#include "ruby/object/core_class.h"

#include <string.h>

#include "base/count.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"

enum {
	ANCESTOR_LIMIT = 1000,
	CACHE_KEY = 1, /* key in rcore_cache of classes; names have 0 */
};

static const char *const names[] = {
	[RCORE_CLASS_EXCEPTION] = "Exception", [RCORE_CLASS_SET] = "Set",
	[RCORE_CLASS_STRUCT] = "Struct",       [RCORE_CLASS_DATA] = "Data",
	[RCORE_CLASS_RANGE] = "Range",         [RCORE_CLASS_FIBER] = "Fiber",
};

static enum rcore_core_class by_name(const struct rcore_class_name *name)
{
	if (name->path && name->permanent && !name->is_singleton && !name->is_module)
		for (size_t i = 1; i < RCORE_COUNT(names); i++)
			if (strcmp(names[i], name->path) == 0)
				return (enum rcore_core_class)i;
	return RCORE_CLASS_OTHER;
}

static struct rcore_error *find(struct rcore_ruby *ruby, uint64_t klass,
				enum rcore_core_class *ret)
{
	struct rcore_error *err = NULL;
	*ret = RCORE_CLASS_OTHER;
	for (int steps = 0; klass && !*ret && !err && steps < ANCESTOR_LIMIT; steps++) {
		struct rcore_class_name name;
		err = rcore_class_name(ruby, klass, &name);
		if (!err)
			*ret = by_name(&name);
		if (!err && !*ret)
			err = rcore_class_super(ruby, klass, &klass);
	}
	return err;
}

struct rcore_error *rcore_core_class(struct rcore_ruby *ruby, uint64_t klass,
				     enum rcore_core_class *ret)
{
	enum rcore_core_class *kept = rcore_cache_get(&ruby->classes, klass, CACHE_KEY);
	if (!kept) {
		kept = rcore_arena_alloc(&ruby->scratch, sizeof(*kept));
		if (!kept)
			return rcore_error_no_memory();
		struct rcore_error *err = find(ruby, klass, kept);
		if (err && err->code == RCORE_ERROR_NO_MEMORY)
			return err;
		rcore_error_free(err);
		if (!rcore_cache_put(&ruby->classes, &ruby->scratch, klass, CACHE_KEY, kept))
			return rcore_error_no_memory();
	}
	*ret = *kept;
	return NULL;
}
