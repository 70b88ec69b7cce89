/* SPDX-License-Identifier: MIT */
#include "ruby/object/constant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ruby/heap/moved.h"
#include "ruby/object/class.h"
#include "ruby/get.h"
#include "ruby/object/id_table.h"

enum {
	PATH_LIMIT = 1024,
	ANCESTOR_LIMIT = 1 << 12,
};

/* The ancestors of a class that share its constants. */
struct ancestors {
	struct rcore_ruby *ruby;
	uint64_t object, scope, at; /* at 0: the end */
	int steps;
};

static struct rcore_error *object_class(struct rcore_ruby *ruby, uint64_t *ret)
{
	if (!ruby->top_self)
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"the class Object was not found, because there is no object \"main\"");
	return rcore_value_class(ruby, ruby->top_self, ret);
}

/* Returns the table of the next one that has constants, or 0 at the end. */
static struct rcore_error *next_table(struct ancestors *ancestors, uint64_t *ret)
{
	struct rcore_ruby *ruby = ancestors->ruby;
	struct rcore_error *err = NULL;
	for (*ret = 0; !err && !*ret && ancestors->at;) {
		uint64_t ext = 0, klass = ancestors->at;
		ancestors->at = 0;
		if (rcore_is_same_object(ruby, klass, ancestors->object) &&
		    !rcore_is_same_object(ruby, klass, ancestors->scope))
			break;
		if (ancestors->steps++ == ANCESTOR_LIMIT)
			return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d ancestors",
						  ANCESTOR_LIMIT);
		err = rcore_classext(ruby, klass, &ext);
		if (!err && ext)
			err = RCORE_GET(ruby, ext, classext, const_tbl, ret);
		if (!err)
			err = rcore_class_super(ruby, klass, &ancestors->at);
	}
	return err;
}

static struct rcore_error *find(struct rcore_ruby *ruby, uint64_t object, uint64_t scope,
				const char *name, bool *found, uint64_t *ret)
{
	struct ancestors ancestors = {ruby, object, scope, scope, 0};
	uint64_t table, entry;
	struct rcore_error *err = NULL;
	*found = false;
	while (!err && !*found && !(err = next_table(&ancestors, &table)) && table) {
		err = rcore_id_table_find(ruby, table, name, found, &entry);
		if (!err && *found)
			err = RCORE_GET(ruby, entry, const_entry, value, ret);
	}
	return err;
}

static struct rcore_error *none(const char *format, const char *path)
{
	char escaped[256];
	rcore_escape(escaped, sizeof(escaped), path);
	return rcore_error_create(RCORE_ERROR_USAGE, format, escaped);
}

static struct rcore_error *check_scope(struct rcore_ruby *ruby, const char *path,
				       uint64_t value)
{
	uint64_t flags = 0;
	if (rcore_immediate(ruby, value) == RCORE_NO_IMMEDIATE) {
		struct rcore_error *err = rcore_flags(ruby, value, &flags);
		if (err)
			return err;
	}
	unsigned type = flags & RCORE_T_MASK;
	if (type == RCORE_T_CLASS || type == RCORE_T_MODULE)
		return NULL;
	return none("%s is neither a class nor a module, so it has no constants", path);
}

/*
 * Splits `path` into its names, and restores it unless there is an error. An
 * empty path is Object.
 */
static struct rcore_error *resolve(struct rcore_ruby *ruby, char *path, uint64_t *ret)
{
	uint64_t object, scope;
	struct rcore_error *err = object_class(ruby, &object);
	char *name = strncmp(path, "::", 2) == 0 ? path + 2 : path, *end;
	if (err)
		return err;
	*ret = object;
	for (; *name; name = end) {
		bool found;
		scope = *ret;
		end = strstr(name, "::");
		if (end)
			*end = '\0';
		err = find(ruby, object, scope, name, &found, ret);
		if (err)
			return rcore_error_wrap(err, "constants of 0x%" PRIx64, scope);
		if (!found)
			return none(ruby->main_box ? "there is no constant %s in the main box"
						   : "there is no constant %s",
				    path);
		if (rcore_immediate(ruby, *ret) == RCORE_UNDEF)
			return none("constant %s is an autoload that has not been loaded yet",
				    path);
		if (!end)
			break;
		err = check_scope(ruby, path, *ret);
		if (err)
			return err;
		memcpy(end, "::", 2);
		end += 2;
	}
	return NULL;
}

static struct rcore_error *copy_path(const char *path, size_t length, char copy[PATH_LIMIT])
{
	if (length >= PATH_LIMIT)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "the path of the constant is longer than %d bytes",
					  PATH_LIMIT - 1);
	memcpy(copy, path, length);
	copy[length] = '\0';
	return NULL;
}

struct rcore_error *rcore_constant(struct rcore_ruby *ruby, const char *path, uint64_t *ret)
{
	char copy[PATH_LIMIT];
	size_t length = strlen(path);
	if (!length || path[length - 1] == ':')
		return none("there is no constant %s", path);
	struct rcore_error *err = copy_path(path, length, copy);
	return err ? err : resolve(ruby, copy, ret);
}

static struct rcore_error *visit_table(struct rcore_ruby *ruby, uint64_t table,
				       const char *prefix, rcore_constant_visit *visit,
				       void *context)
{
	struct rcore_id_iterator iterator;
	struct rcore_error *err = rcore_id_table_begin(&iterator, ruby, table);
	uint64_t serial, entry;
	bool more;
	while (!err && !(err = rcore_id_table_next(&iterator, &more, &serial, &entry)) &&
	       more) {
		const char *name;
		char path[2 * PATH_LIMIT];
		struct rcore_error *unnamed = rcore_serial_name(ruby, serial, &name);
		/* A constant of Ruby's own, under an ID without a name. */
		if (unnamed) {
			rcore_error_free(unnamed);
			continue;
		}
		int length = snprintf(path, sizeof(path), "%s%s", prefix, name);
		if (length > 0 && (size_t)length < sizeof(path))
			err = visit(context, path);
	}
	return err;
}

/* Returns the length of the scope: "Foo::" in "Foo::B". */
static size_t scope_length(const char *begun)
{
	size_t length = 0;
	for (const char *at = strstr(begun, "::"); at; at = strstr(at + 2, "::"))
		length = (size_t)(at - begun) + 2;
	return length;
}

struct rcore_error *rcore_constants(struct rcore_ruby *ruby, const char *begun,
				    rcore_constant_visit *visit, void *context)
{
	char prefix[PATH_LIMIT], path[PATH_LIMIT];
	size_t length = scope_length(begun);
	uint64_t object, scope, table;
	struct rcore_error *err = copy_path(begun, length, prefix);
	if (!err)
		err = copy_path(begun, length > 2 ? length - 2 : 0, path);
	if (!err)
		err = object_class(ruby, &object);
	if (!err)
		err = resolve(ruby, path, &scope);
	if (!err && length > 2)
		err = check_scope(ruby, path, scope);
	if (err)
		return err;
	struct ancestors ancestors = {ruby, object, scope, scope, 0};
	do {
		err = next_table(&ancestors, &table);
		if (!err && table)
			err = visit_table(ruby, table, prefix, visit, context);
	} while (!err && table);
	return err;
}
