/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/object/array.h"
#include "ruby/iseq/block.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/inspect/inspect_types.h"
#include "ruby/iseq/method.h"
#include "ruby/object/string.h"

enum { ALIAS_LIMIT = 100, ARITY_LIMIT = 100 };

/* enum method_optimized_type of method.h: accessors of a Struct */
enum { STRUCT_AREF = 3, STRUCT_ASET };

/* The contents of a Method or UnboundMethod: struct METHOD of proc.c. */
struct method {
	uint64_t recv, klass, iclass; /* recv: undef in an UnboundMethod */
	const struct rcore_method_entry *entry;
	/* After aliases: it has the parameters and the location. */
	const struct rcore_method_entry *original;
	uint64_t definition;    /* of `original` */
	uint64_t defined_class; /* not an include class */
	/* NULL if it is not written in Ruby. */
	const struct rcore_iseq_info *iseq;
};

static struct rcore_error *past_iclass(struct rcore_ruby *ruby, uint64_t *klass)
{
	enum rcore_type type;
	struct rcore_error *err = rcore_type(ruby, *klass, &type);
	if (!err && type == RCORE_T_ICLASS)
		err = RCORE_GET(ruby, *klass, basic, klass, klass);
	return err;
}

static struct rcore_error *follow_aliases(struct rcore_ruby *ruby, struct method *method)
{
	method->original = method->entry;
	for (int steps = 0; steps < ALIAS_LIMIT; steps++) {
		uint64_t entry;
		struct rcore_error *err = RCORE_GET(ruby, method->original->address, cme, def,
						    &method->definition);
		if (err || method->original->type != RCORE_METHOD_ALIAS)
			return err;
		err = RCORE_GET(ruby, method->definition, method_def, alias_me, &entry);
		if (!err)
			err = rcore_method_entry(ruby, entry, &method->original);
		if (err)
			return err;
		if (!steps)
			method->defined_class = method->original->owner;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d aliases", ALIAS_LIMIT);
}

static struct rcore_error *find_iseq(struct rcore_ruby *ruby, struct method *method)
{
	struct rcore_block block = {0};
	uint64_t proc;
	if (method->original->type == RCORE_METHOD_ISEQ)
		return rcore_iseq(ruby, method->original->iseq, &method->iseq);
	if (method->original->type != RCORE_METHOD_BMETHOD)
		return NULL;
	struct rcore_error *err =
		RCORE_GET(ruby, method->definition, method_def, bmethod_proc, &proc);
	if (!err)
		err = rcore_proc_block(ruby, proc, &block, NULL);
	method->iseq = block.iseq;
	return err;
}

static struct rcore_error *read_method(struct rcore_ruby *ruby, uint64_t data,
				       struct method *ret)
{
	uint64_t entry;
	struct rcore_error *err = RCORE_GET(ruby, data, method, recv, &ret->recv);
	if (!err)
		err = RCORE_GET(ruby, data, method, klass, &ret->klass);
	if (!err)
		err = RCORE_GET(ruby, data, method, iclass, &ret->iclass);
	if (!err)
		err = RCORE_GET(ruby, data, method, me, &entry);
	if (!err)
		err = rcore_method_entry(ruby, entry, &ret->entry);
	if (err)
		return err;
	ret->defined_class =
		ret->entry->defined_class ? ret->entry->defined_class : ret->entry->owner;
	err = follow_aliases(ruby, ret);
	if (!err)
		err = past_iclass(ruby, &ret->defined_class);
	return err ? err : find_iseq(ruby, ret);
}

static struct rcore_error *singleton_of(struct rcore_ruby *ruby, uint64_t klass, bool *ret,
					uint64_t *attached)
{
	struct rcore_class_name name;
	struct rcore_error *err = rcore_class_name(ruby, klass, &name);
	if (!err) {
		*ret = name.is_singleton;
		*attached = name.attached;
	}
	return err;
}

/* Skips the singleton class of an object that is not a class itself. */
static struct rcore_error *shown_class(struct rcore_ruby *ruby, uint64_t *klass)
{
	enum rcore_type type;
	uint64_t attached;
	bool is_singleton = false;
	struct rcore_error *err = singleton_of(ruby, *klass, &is_singleton, &attached);
	if (err || !is_singleton)
		return err;
	err = rcore_type(ruby, attached, &type);
	if (err || type == RCORE_T_CLASS || type == RCORE_T_MODULE)
		return err;
	return rcore_real_class(ruby, *klass, klass);
}

static struct rcore_error *add_two(struct rcore_inspect_items *items, uint64_t first,
				   uint64_t second)
{
	struct rcore_error *err = rcore_inspect_add_value(items, first);
	if (err || first == second)
		return err;
	err = rcore_inspect_add_text(items, "(");
	if (!err)
		err = rcore_inspect_add_value(items, second);
	return err ? err : rcore_inspect_add_text(items, ")");
}

/*
 * Adds what precedes the name: the receiver's class, and its owner if that is
 * another one.
 */
static struct rcore_error *add_owner(struct rcore_inspect_items *items, struct rcore_ruby *ruby,
				     const struct method *method)
{
	const struct rcore_traits *traits = &ruby->layout->traits;
	uint64_t klass =
		method->iclass && !traits->method_of_class ? method->iclass : method->klass;
	bool is_unbound = rcore_immediate(ruby, method->recv) == RCORE_UNDEF;
	bool is_singleton = false;
	uint64_t attached = 0;
	if (is_unbound && traits->method_of_owner) {
		struct rcore_error *err = rcore_inspect_add_value(items, method->defined_class);
		return err ? err : rcore_inspect_add_text(items, "#");
	}
	struct rcore_error *err = past_iclass(ruby, &klass);
	if (!err)
		err = singleton_of(ruby, klass, &is_singleton, &attached);
	if (!err && is_singleton && is_unbound) {
		err = rcore_inspect_add_value(items, klass);
	} else if (!err && is_singleton) {
		err = add_two(items, method->recv, attached);
		return err ? err : rcore_inspect_add_text(items, ".");
	} else if (!err) {
		if (!traits->method_of_class) {
			klass = method->klass;
			err = shown_class(ruby, &klass);
		}
		if (!err)
			err = add_two(items, klass, method->defined_class);
	}
	return err ? err : rcore_inspect_add_text(items, "#");
}

/* For a method that is not written in Ruby: one "_" per parameter, or "*". */
static struct rcore_error *anonymous_parameters(struct rcore_ruby *ruby,
						const struct method *method, const char **ret)
{
	uint64_t argc = 0, type = 0;
	int32_t arity = -1;
	struct rcore_error *err = NULL;
	switch (method->original->type) {
	case RCORE_METHOD_CFUNC:
		err = RCORE_GET(ruby, method->definition, method_def, cfunc_argc, &argc);
		arity = (int32_t)argc;
		break;
	case RCORE_METHOD_ATTRSET:
		arity = 1;
		break;
	case RCORE_METHOD_IVAR:
	case RCORE_METHOD_UNDEF:
	case RCORE_METHOD_NOTIMPLEMENTED:
		arity = 0;
		break;
	case RCORE_METHOD_OPTIMIZED:
		if (rcore_has(&ruby->layout->method_def.optimized_type))
			err = RCORE_GET(ruby, method->definition, method_def, optimized_type,
					&type);
		arity = type == STRUCT_AREF ? 0 : type == STRUCT_ASET ? 1 : -1;
		break;
	default:
		break;
	}
	static const char many[] = "_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _";
	if (!err && arity > 16)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "a C function of %d arguments",
					 arity);
	if (err)
		return err;
	*ret = arity < 0 ? "*"
	       : arity   ? rcore_arena_strndup(ruby->arena, many, (size_t)arity * 3 - 2)
			 : "";
	return *ret ? NULL : rcore_error_no_memory();
}

static struct rcore_error *add_parameters(struct rcore_inspect_items *items,
					  struct rcore_ruby *ruby, const struct method *method)
{
	const char *parameters;
	struct rcore_error *err =
		method->iseq ? rcore_inspect_parameters(ruby, method->iseq, &parameters)
			     : anonymous_parameters(ruby, method, &parameters);
	if (!err)
		err = rcore_inspect_add_text(items, "(");
	if (!err)
		err = rcore_inspect_add_text(items, parameters);
	return err ? err : rcore_inspect_add_text(items, ")");
}

/*
 * " app.rb:3"; for an attr_reader and the like, it is an Array of path and
 * line.
 */
static struct rcore_error *add_place(struct rcore_inspect_items *items, struct rcore_ruby *ruby,
				     const struct method *method)
{
	enum rcore_method_type type = method->original->type;
	uint64_t location = 0, path, line;
	struct rcore_error *err;
	if (method->iseq) {
		const char *text = rcore_arena_printf(
			ruby->arena, " %s:%d", method->iseq->path ? method->iseq->path : "?",
			method->iseq->first_line);
		return text ? rcore_inspect_add_text(items, text) : rcore_error_no_memory();
	}
	if (type != RCORE_METHOD_IVAR && type != RCORE_METHOD_ATTRSET)
		return NULL;
	err = RCORE_GET(ruby, method->definition, method_def, attr_location, &location);
	if (err || rcore_is_nil(ruby, location))
		return err;
	err = rcore_array_at(ruby, location, 0, &path);
	if (!err)
		err = rcore_array_at(ruby, location, 1, &line);
	if (!err)
		err = rcore_inspect_add_text(items, " ");
	if (!err)
		err = rcore_inspect_add_string(items, path);
	if (!err)
		err = rcore_inspect_add_text(items, ":");
	return err ? err : rcore_inspect_add_value(items, line);
}

static struct rcore_error *add_name(struct rcore_inspect_items *items, struct rcore_ruby *ruby,
				    const struct method *method)
{
	const char *name, *original;
	struct rcore_error *err = rcore_id_name(ruby, method->entry->called_id, &name);
	if (!err)
		err = rcore_inspect_add_text(items, name);
	if (err || method->entry->called_id == method->entry->original_id)
		return err;
	err = rcore_id_name(ruby, method->entry->original_id, &original);
	if (!err)
		err = rcore_inspect_add_text(items, "(");
	if (!err)
		err = rcore_inspect_add_text(items, original);
	return err ? err : rcore_inspect_add_text(items, ")");
}

/* method_inspect of proc.c */
struct rcore_error *rcore_inspect_method(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	struct rcore_inspect_items items = {0};
	struct method method = {0};
	const char *name;
	if (rcore_inspect_is_open(inspect, value))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a Method is its own receiver");
	struct rcore_error *err = rcore_value_class_name(ruby, value, &name);
	if (!err)
		err = read_method(ruby, data, &method);
	if (err)
		return err;
	err = rcore_inspect_add_text(&items, "#<");
	if (!err)
		err = rcore_inspect_add_text(&items, name);
	if (!err)
		err = rcore_inspect_add_text(&items, ": ");
	if (!err)
		err = add_owner(&items, ruby, &method);
	if (!err)
		err = add_name(&items, ruby, &method);
	if (!err && method.entry->type == RCORE_METHOD_NOTIMPLEMENTED)
		err = rcore_inspect_add_text(&items, " (not-implemented)");
	if (!err && ruby->layout->traits.method_shows_parameters)
		err = add_parameters(&items, ruby, &method);
	if (!err && ruby->layout->traits.method_shows_parameters)
		err = add_place(&items, ruby, &method);
	if (!err)
		err = rcore_inspect_add_text(&items, ">");
	return rcore_inspect_open_items(inspect, value, &items, err);
}
