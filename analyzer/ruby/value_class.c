/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "ruby/class.h"
#include "ruby/get.h"
#include "ruby/inspect.h"
#include "ruby/value.h"

enum { ANCESTOR_LIMIT = 1000 };

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

/* rb_class_real of object.c: past singleton and include classes */
struct rcore_error *rcore_real_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	for (int steps = 0; steps < ANCESTOR_LIMIT; steps++) {
		uint64_t flags;
		struct rcore_error *err = rcore_flags(ruby, klass, &flags);
		if (err)
			return err;
		unsigned type = flags & RCORE_T_MASK;
		if (type != RCORE_T_ICLASS && type != RCORE_T_CLASS)
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "0x%" PRIx64 " is no class", klass);
		if (type == RCORE_T_CLASS && !(flags & ruby->layout->traits.singleton_flag)) {
			*ret = klass;
			return NULL;
		}
		err = rcore_class_super(ruby, klass, &klass);
		if (err)
			return err;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "a class has more than %d ancestors",
				  ANCESTOR_LIMIT);
}

struct rcore_error *rcore_value_class(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	uint64_t klass;
	struct rcore_error *err = RCORE_GET(ruby, value, basic, klass, &klass);
	if (!err)
		err = rcore_real_class(ruby, klass, ret);
	return rcore_error_wrap(err, "class of 0x%" PRIx64, value);
}

struct rcore_error *rcore_value_class_name(struct rcore_ruby *ruby, uint64_t value,
					   const char **ret)
{
	struct rcore_class_name name;
	uint64_t klass, flags;
	enum rcore_immediate kind = rcore_immediate(ruby, value);
	if (kind != RCORE_NO_IMMEDIATE) {
		*ret = immediate_class(kind);
		return NULL;
	}
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (!err)
		err = rcore_value_class(ruby, value, &klass);
	if (!err)
		err = rcore_class_name(ruby, klass, &name);
	if (err)
		return err;
	*ret = name.path ? name.path
			 : rcore_arena_printf(ruby->arena, "#<Class:0x%016" PRIx64 ">", klass);
	return *ret ? NULL : rcore_error_no_memory();
}
