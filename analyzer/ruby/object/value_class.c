/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "ruby/object/class.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/value.h"

static const char *immediate_class(enum rcore_immediate kind)
{
	static const char *const names[] = {
		[RCORE_FALSE] = "FalseClass", [RCORE_NIL] = "NilClass",
		[RCORE_TRUE] = "TrueClass",   [RCORE_FIXNUM] = "Integer",
		[RCORE_FLONUM] = "Float",     [RCORE_STATIC_SYMBOL] = "Symbol",
		[RCORE_UNDEF] = "undef",
	};
	return names[kind];
}

struct rcore_error *rcore_value_class(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	uint64_t klass;
	struct rcore_error *err = RCORE_GET(ruby, value, basic, klass, &klass);
	if (!err)
		err = rcore_real_class(ruby, klass, ret);
	return rcore_error_wrap(err, "class of 0x%" PRIx64, value);
}

/* What stands in "#<Class:0x...>": the class of the class. */
static struct rcore_error *class_of_class(struct rcore_ruby *ruby, uint64_t klass,
					  const char **ret)
{
	struct rcore_class_name name;
	uint64_t meta;
	struct rcore_error *err = rcore_value_class(ruby, klass, &meta);
	if (!err)
		err = rcore_class_name(ruby, meta, &name);
	if (err)
		return err;
	*ret = name.path ? name.path
			 : rcore_arena_printf(ruby->arena, "#<Class:0x%016" PRIx64 ">", meta);
	return *ret ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_class_path(struct rcore_ruby *ruby, uint64_t klass, const char **ret)
{
	struct rcore_class_name name;
	const char *meta;
	struct rcore_error *err = rcore_class_name(ruby, klass, &name);
	if (!err && name.path) {
		*ret = name.path;
		return NULL;
	}
	if (!err)
		err = class_of_class(ruby, klass, &meta);
	if (err)
		return err;
	*ret = rcore_arena_printf(ruby->arena, "#<%s:0x%016" PRIx64 ">", meta, klass);
	return *ret ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_value_class_name(struct rcore_ruby *ruby, uint64_t value,
					   const char **ret)
{
	uint64_t klass;
	enum rcore_immediate kind = rcore_immediate(ruby, value);
	if (kind != RCORE_NO_IMMEDIATE) {
		*ret = immediate_class(kind);
		return NULL;
	}
	struct rcore_error *err = rcore_value_class(ruby, value, &klass);
	return err ? err : rcore_class_path(ruby, klass, ret);
}
