/* SPDX-License-Identifier: MIT */
#include "ruby/object/class_name.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ruby/get.h"
#include "ruby/object/class.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"
#include "ruby/symbol/id.h"

struct raw_names {
	uint64_t path; /* String, or 0 */
	bool permanent;
	uint64_t attached;
};

static struct rcore_error *names_from_fields(struct rcore_ruby *ruby, uint64_t klass,
					     uint64_t ext, bool is_singleton,
					     struct raw_names *ret)
{
	uint64_t permanent = 0, prime = 0;
	struct rcore_error *err = RCORE_GET(ruby, ext, classext, classpath, &ret->path);
	if (!err)
		err = RCORE_GET(ruby, ext, classext, permanent_classpath, &permanent);
	if (!err && is_singleton)
		err = rcore_prime_classext(ruby, klass, &prime);
	if (!err && is_singleton)
		err = RCORE_GET(ruby, prime, classext, attached_object, &ret->attached);
	ret->permanent = permanent;
	return err;
}

/*
 * Up to 3.2, a class keeps its names, and a singleton class its object, in
 * hidden ivars.
 */
enum name_ivar {
	CLASSPATH,     /* __classpath__ */
	TMP_CLASSPATH, /* __tmp_classpath__ */
	ATTACHED,      /* __attached__ */
	NAME_IVAR_COUNT,
};

enum { IVAR_LIMIT = 1 << 16 };

static const char *const ivar_names[NAME_IVAR_COUNT] = {
	[CLASSPATH] = "__classpath__",
	[TMP_CLASSPATH] = "__tmp_classpath__",
	[ATTACHED] = "__attached__",
};

/*
 * Returns which of them an ID names, or -1. Their IDs are assigned when the
 * process starts, so each is recognized once by its name, and then by its
 * number.
 */
static struct rcore_error *name_ivar(struct rcore_ruby *ruby, uint64_t id, int *ret)
{
	*ret = -1;
	for (int i = 0; i < NAME_IVAR_COUNT; i++)
		if (ruby->class_name_ids[i] == id) {
			*ret = i;
			return NULL;
		}
	for (int i = 0; i < NAME_IVAR_COUNT; i++) {
		bool same;
		if (ruby->class_name_ids[i])
			continue;
		struct rcore_error *err = rcore_id_is(ruby, id, ivar_names[i], &same);
		if (err)
			return err;
		if (same) {
			ruby->class_name_ids[i] = id;
			*ret = i;
			return NULL;
		}
	}
	return NULL;
}

/*
 * Reads their values; 0 if the class has none. Mirrors rb_class_path_cached,
 * rb_ivar_lookup of variable.c. Errors: those of rcore_ivars().
 */
static struct rcore_error *read_ivars(struct rcore_ruby *ruby, uint64_t klass,
				      uint64_t ret[NAME_IVAR_COUNT])
{
	struct rcore_ivars ivars;
	for (int i = 0; i < NAME_IVAR_COUNT; i++)
		ret[i] = 0;
	if (!ruby->global_symbols)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the symbol table (global_symbols) was not found");
	struct rcore_error *err = rcore_ivars(ruby, klass, IVAR_LIMIT, &ivars);
	for (size_t j = 0; j < ivars.count && !err; j++) {
		int i;
		err = name_ivar(ruby, ivars.items[j].id, &i);
		if (!err && i >= 0)
			ret[i] = ivars.items[j].value;
	}
	free(ivars.items);
	return err;
}

static struct rcore_error *names_from_ivars(struct rcore_ruby *ruby, uint64_t klass,
					    struct raw_names *ret)
{
	uint64_t ivars[NAME_IVAR_COUNT];
	struct rcore_error *err = read_ivars(ruby, klass, ivars);
	if (err)
		return err;
	ret->permanent = ivars[CLASSPATH] != 0;
	ret->path = ret->permanent ? ivars[CLASSPATH] : ivars[TMP_CLASSPATH];
	ret->attached = ivars[ATTACHED];
	return NULL;
}

static bool is_class(uint64_t flags)
{
	unsigned type = flags & RCORE_T_MASK;
	return type == RCORE_T_CLASS || type == RCORE_T_MODULE;
}

/*
 * Goes from an include class to its module or, if modules were prepended, to
 * the class itself.
 */
static struct rcore_error *resolve(struct rcore_ruby *ruby, uint64_t *klass, uint64_t *flags)
{
	struct rcore_error *err = rcore_flags(ruby, *klass, flags);
	if (!err && (*flags & RCORE_T_MASK) == RCORE_T_ICLASS) {
		err = RCORE_GET(ruby, *klass, basic, klass, klass);
		if (!err)
			err = rcore_flags(ruby, *klass, flags);
	}
	if (!err && !is_class(*flags))
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a class",
					 *klass);
	return err;
}

static struct rcore_error *read_name(struct rcore_ruby *ruby, uint64_t klass,
				     struct rcore_class_name *name)
{
	struct raw_names raw = {0};
	uint64_t flags, ext;
	struct rcore_error *err = resolve(ruby, &klass, &flags);
	if (!err)
		err = rcore_classext(ruby, klass, &ext);
	if (err)
		return err;
	name->is_module = (flags & RCORE_T_MASK) == RCORE_T_MODULE;
	name->is_singleton = !name->is_module && flags & ruby->layout->traits.singleton_flag;
	if (rcore_has(&ruby->layout->classext.classpath))
		err = names_from_fields(ruby, klass, ext, name->is_singleton, &raw);
	else
		err = names_from_ivars(ruby, klass, &raw);
	if (err)
		return err;
	name->permanent = raw.permanent;
	name->attached = name->is_singleton ? raw.attached : 0;
	if (!rcore_is_nil(ruby, raw.path))
		err = rcore_string(ruby, raw.path, &name->path, NULL);
	return err;
}

struct rcore_error *rcore_class_name(struct rcore_ruby *ruby, uint64_t klass,
				     struct rcore_class_name *ret)
{
	struct rcore_class_name *name = rcore_cache_get(&ruby->classes, klass, 0);
	if (!name) {
		struct rcore_class_name fresh = {0};
		struct rcore_error *err = read_name(ruby, klass, &fresh);
		if (err)
			return rcore_error_wrap(err, "name of class 0x%" PRIx64, klass);
		name = rcore_arena_alloc(&ruby->scratch, sizeof(*name));
		if (!name)
			return rcore_error_no_memory();
		*name = fresh;
		if (!rcore_cache_put(&ruby->classes, &ruby->scratch, klass, 0, name))
			return rcore_error_no_memory();
	}
	*ret = *name;
	return NULL;
}

/* Finds the name in "#<Class:0x...>": the class of the class. */
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

/*
 * Finds the class or module that qualifies a method's name, and the sign
 * between them; *sign is 0 if the method is not qualified.
 */
static struct rcore_error *qualifier(struct rcore_ruby *ruby, uint64_t owner,
				     struct rcore_class_name *ret, char *sign)
{
	uint64_t flags;
	*sign = 0;
	struct rcore_error *err = rcore_flags(ruby, owner, &flags);
	if (err)
		return err;
	if (!is_class(flags))
		return (flags & RCORE_T_MASK) == RCORE_T_ICLASS
			       ? NULL
			       : rcore_error_create(RCORE_ERROR_CORRUPT,
						    "owner 0x%" PRIx64 " is not a class",
						    owner);
	err = rcore_class_name(ruby, owner, ret);
	if (err)
		return err;
	if (!ret->is_singleton) {
		*sign = '#';
	} else if (rcore_is_object(ruby, ret->attached)) {
		uint64_t attached = ret->attached;
		err = rcore_flags(ruby, attached, &flags);
		if (err || !is_class(flags))
			return err;
		err = rcore_class_name(ruby, attached, ret);
		*sign = '.';
	}
	if (!err && (!ret->path || !ret->permanent))
		*sign = 0;
	return err;
}

struct rcore_error *rcore_qualified_name(struct rcore_ruby *ruby, uint64_t owner,
					 const char *name, const char **ret,
					 const char **problem)
{
	struct rcore_class_name class_name;
	char sign;
	struct rcore_error *err = qualifier(ruby, owner, &class_name, &sign);
	const char *text = name;
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	if (!err && sign)
		text = rcore_arena_printf(ruby->arena, "%s%c%s", class_name.path, sign, name);
	if (err && problem) {
		*problem = rcore_arena_strdup(ruby->arena, err->message);
		if (!*problem)
			text = NULL;
	}
	rcore_error_free(err);
	if (!text)
		return rcore_error_no_memory();
	*ret = text;
	return NULL;
}
