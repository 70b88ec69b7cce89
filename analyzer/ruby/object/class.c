/* SPDX-License-Identifier: MIT */
#include "ruby/object/class.h"

#include <inttypes.h>

#include "ruby/object/class_ivar.h"
#include "ruby/get.h"
#include "ruby/object/string.h"

enum { ANCESTOR_LIMIT = 1 << 16 };

/*
 *   up to 3.1            RClass.ptr ──> rb_classext_struct
 *   3.2 on     RClass | rb_classext_struct               in one slot, one behind the other
 */
struct rcore_error *rcore_classext(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	if (rcore_has(&layout->klass.ptr))
		return RCORE_GET(ruby, klass, klass, ptr, ret);
	if (rcore_has(&layout->klass_and_ext.classext))
		*ret = klass + (uint64_t)layout->klass_and_ext.classext.offset;
	else
		*ret = klass + layout->klass.size;
	return NULL;
}

struct rcore_error *rcore_class_super(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	uint64_t ext;
	if (rcore_has(&ruby->layout->klass.super))
		return RCORE_GET(ruby, klass, klass, super, ret);
	struct rcore_error *err = rcore_classext(ruby, klass, &ext);
	return err ? err : RCORE_GET(ruby, ext, classext, super, ret);
}

struct rcore_error *rcore_real_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	for (int steps = 0; steps < ANCESTOR_LIMIT; steps++) {
		uint64_t flags;
		struct rcore_error *err = rcore_flags(ruby, klass, &flags);
		unsigned type = flags & RCORE_T_MASK;
		if (err)
			return err;
		if (type != RCORE_T_ICLASS && type != RCORE_T_CLASS)
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "0x%" PRIx64 " is no class", klass);
		if (type == RCORE_T_CLASS && !(flags & layout->traits.singleton_flag)) {
			*ret = klass;
			return NULL;
		}
		err = rcore_class_super(ruby, klass, &klass);
		if (err)
			return err;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d ancestors", ANCESTOR_LIMIT);
}

struct raw_names {
	uint64_t path; /* String; 0: none */
	bool permanent;
	uint64_t attached;
};

static struct rcore_error *names_from_fields(struct rcore_ruby *ruby, uint64_t ext,
					     bool is_singleton, struct raw_names *ret)
{
	uint64_t permanent = 0;
	struct rcore_error *err = RCORE_GET(ruby, ext, classext, classpath, &ret->path);
	if (!err)
		err = RCORE_GET(ruby, ext, classext, permanent_classpath, &permanent);
	if (!err && is_singleton)
		err = RCORE_GET(ruby, ext, classext, attached_object, &ret->attached);
	ret->permanent = permanent;
	return err;
}

static struct rcore_error *names_from_ivars(struct rcore_ruby *ruby, uint64_t klass,
					    struct raw_names *ret)
{
	uint64_t ivars[RCORE_CLASS_IVAR_COUNT];
	struct rcore_error *err = rcore_class_ivars(ruby, klass, ivars);
	if (err)
		return err;
	ret->permanent = ivars[RCORE_CLASSPATH] != 0;
	ret->path = ret->permanent ? ivars[RCORE_CLASSPATH] : ivars[RCORE_TMP_CLASSPATH];
	ret->attached = ivars[RCORE_ATTACHED];
	return NULL;
}

static bool is_class(uint64_t flags)
{
	unsigned type = flags & RCORE_T_MASK;
	return type == RCORE_T_CLASS || type == RCORE_T_MODULE;
}

/*
 * From an include class to what it stands for: a module or, where modules were
 * prepended, the class itself.
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
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is no class",
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
		err = names_from_fields(ruby, ext, name->is_singleton, &raw);
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

/*
 * The class or module that gives a method its qualifier, and the sign between
 * them; *sign is 0 where the method goes unqualified.
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
						    "owner 0x%" PRIx64 " is no class", owner);
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
