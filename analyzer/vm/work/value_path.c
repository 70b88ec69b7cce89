/* SPDX-License-Identifier: MIT */
#include "vm/work/value_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ruby/object/array.h"
#include "ruby/object/class_name.h"
#include "ruby/object/hash.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"
#include "ruby/object/struct.h"
#include "ruby/symbol/id.h"
#include "vm/stack/c_arguments.h"
#include "vm/stack/frame_values.h"

enum {
	STEP_LIMIT = 16,
	/*
	 * Pairs of a Hash, or elements of an Array, that are looked at: a Rack
	 * environment has some 60.
	 */
	ITEM_LIMIT = 4096,
};

enum step_kind { BY_IVAR, BY_STRING, BY_SYMBOL, BY_INDEX, BY_MEMBER, BY_CLASS };

struct step {
	enum step_kind kind;
	const char *name;
	uint64_t index;
};

struct rcore_value_path {
	const char *local; /* NULL: self */
	bool is_argument;  /* of a method in C: number `argument` */
	uint64_t argument;
	size_t count;
	struct step steps[STEP_LIMIT];
};

struct parser {
	struct rcore_arena *arena;
	const char *text, *at;
};

static struct rcore_error *refuse(const struct parser *parser, const char *expected)
{
	char text[256];
	return rcore_error_create(RCORE_ERROR_FORMAT,
				  "'%s' is not a path of values: expected %s at character %td",
				  rcore_escape(text, sizeof(text), parser->text), expected,
				  parser->at - parser->text + 1);
}

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

static struct rcore_error *parse_name(struct parser *parser, const char *prefix,
				      const char **ret)
{
	const char *start = parser->at;
	parser->at += strlen(prefix);
	const char *name = parser->at;
	while (is_name_byte(*parser->at))
		parser->at++;
	if (parser->at == name || isdigit((unsigned char)*name))
		return refuse(parser, "a name");
	if (parser->at - name > RCORE_STRING_IS_LIMIT)
		return refuse(parser, "a name of 1 to 64 bytes");
	*ret = rcore_arena_strndup(parser->arena, start, (size_t)(parser->at - start));
	return *ret ? NULL : rcore_error_no_memory();
}

static struct rcore_error *parse_string(struct parser *parser, const char **ret)
{
	const char *start = ++parser->at, *end = strchr(start, '\'');
	if (!end)
		return refuse(parser, "a closing '");
	if (end == start || end - start > RCORE_STRING_IS_LIMIT)
		return refuse(parser, "a string of 1 to 64 bytes");
	parser->at = end + 1;
	*ret = rcore_arena_strndup(parser->arena, start, (size_t)(end - start));
	return *ret ? NULL : rcore_error_no_memory();
}

static struct rcore_error *parse_index(struct parser *parser, uint64_t *ret)
{
	char *end;
	if (!isdigit((unsigned char)*parser->at))
		return refuse(parser, "'string', :symbol or a number");
	*ret = strtoull(parser->at, &end, 10);
	parser->at = end;
	return *ret < ITEM_LIMIT ? NULL : refuse(parser, "a number below 4096");
}

static struct rcore_error *parse_brackets(struct parser *parser, struct step *step)
{
	struct rcore_error *err;
	parser->at++;
	if (*parser->at == '\'') {
		step->kind = BY_STRING;
		err = parse_string(parser, &step->name);
	} else if (*parser->at == ':') {
		step->kind = BY_SYMBOL;
		parser->at++;
		err = parse_name(parser, "", &step->name);
	} else {
		step->kind = BY_INDEX;
		err = parse_index(parser, &step->index);
	}
	if (!err && *parser->at++ != ']') {
		parser->at--;
		err = refuse(parser, "]");
	}
	return err;
}

static struct rcore_error *parse_step(struct parser *parser, struct step *step)
{
	if (*parser->at == '[')
		return parse_brackets(parser, step);
	if (*parser->at != '.')
		return refuse(parser, ". or [");
	parser->at++;
	step->kind = *parser->at == '@' ? BY_IVAR : BY_MEMBER;
	struct rcore_error *err =
		parse_name(parser, step->kind == BY_IVAR ? "@" : "", &step->name);
	if (err || step->kind == BY_IVAR || strcmp(step->name, "class") != 0)
		return err;
	step->kind = BY_CLASS;
	return *parser->at ? refuse(parser, "the end of the path") : NULL;
}

/* In argv[N], the first step is the argument's number, not an Array's index. */
static struct rcore_error *take_argument(const struct parser *parser,
					 struct rcore_value_path *path)
{
	if (!path->local || strcmp(path->local, "argv") != 0)
		return NULL;
	if (!path->count || path->steps[0].kind != BY_INDEX)
		return refuse(parser, "argv[NUMBER]");
	path->is_argument = true;
	path->argument = path->steps[0].index;
	memmove(path->steps, path->steps + 1, --path->count * sizeof(*path->steps));
	return NULL;
}

struct rcore_error *rcore_value_path_parse(struct rcore_arena *arena, const char *text,
					   const struct rcore_value_path **ret)
{
	struct parser parser = {.arena = arena, .text = text, .at = text};
	struct rcore_value_path *path = rcore_arena_alloc(arena, sizeof(*path));
	if (!path)
		return rcore_error_no_memory();
	*path = (struct rcore_value_path){0};
	struct rcore_error *err = parse_name(&parser, "", &path->local);
	while (!err && *parser.at) {
		if (path->count == STEP_LIMIT)
			return refuse(&parser, "the end: 16 steps are the most");
		err = parse_step(&parser, &path->steps[path->count++]);
	}
	if (err)
		return err;
	if (!strcmp(path->local, "self"))
		path->local = NULL;
	err = take_argument(&parser, path);
	*ret = path;
	return err;
}

struct rcore_error *rcore_value_path_start(struct rcore_ruby *ruby,
					   const struct rcore_fiber *fiber,
					   const struct rcore_frame *frame,
					   const struct rcore_value_path *path, uint64_t *ret)
{
	size_t count;
	*ret = 0;
	if (path->is_argument) {
		if (rcore_c_arguments(ruby, fiber, frame, ret, &count))
			*ret = path->argument < count ? *ret + path->argument * sizeof(uint64_t)
						      : 0;
		return NULL;
	}
	return path->local ? rcore_frame_local_address(ruby, frame, path->local, ret) : NULL;
}

static struct rcore_error *start(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
				 const struct rcore_frame *frame,
				 const struct rcore_value_path *path, bool *found,
				 uint64_t *ret)
{
	uint64_t address;
	*ret = frame->self;
	*found = !path->local;
	if (*found)
		return NULL;
	struct rcore_error *err = rcore_value_path_start(ruby, fiber, frame, path, &address);
	*found = !err && address && !rcore_read_u64(ruby->memory, address, ret);
	return err;
}

static struct rcore_error *is_key(struct rcore_ruby *ruby, uint64_t key,
				  const struct step *step, bool *ret)
{
	enum rcore_type type;
	uint64_t string = key;
	bool is_symbol = false;
	struct rcore_error *err = NULL;
	*ret = false;
	if (step->kind == BY_SYMBOL) {
		err = rcore_symbol_string(ruby, key, &is_symbol, &string);
		return err || !is_symbol ? err : rcore_string_is(ruby, string, step->name, ret);
	}
	if (!rcore_is_object(ruby, key))
		return NULL;
	err = rcore_type(ruby, key, &type);
	return err || type != RCORE_T_STRING ? err
					     : rcore_string_is(ruby, key, step->name, ret);
}

static struct rcore_error *look_up(struct rcore_ruby *ruby, uint64_t hash,
				   const struct step *step, bool *found, uint64_t *ret)
{
	struct rcore_hash_iterator iterator;
	uint64_t key, value;
	bool more = true, same;
	struct rcore_error *err = rcore_hash_begin(&iterator, ruby, hash);
	/* Deleted entries count, too: they are read as well. */
	if (!err && iterator.is_st && iterator.st.bound - iterator.st.index > ITEM_LIMIT)
		return NULL;
	for (size_t seen = 0; !err && seen < ITEM_LIMIT; seen++) {
		err = rcore_hash_next(&iterator, &more, &key, &value);
		if (err || !more)
			return err;
		err = is_key(ruby, key, step, &same);
		if (!err && same) {
			*found = true;
			*ret = value;
			return NULL;
		}
	}
	return err;
}

static struct rcore_error *element(struct rcore_ruby *ruby, uint64_t array, uint64_t index,
				   bool *found, uint64_t *ret)
{
	uint64_t elements, length;
	struct rcore_error *err = rcore_array(ruby, array, &elements, &length);
	*found = !err && index < length;
	return err || !*found ? err : rcore_array_at(ruby, array, index, ret);
}

static struct rcore_error *member(struct rcore_ruby *ruby, uint64_t object, const char *name,
				  bool *found, uint64_t *ret)
{
	const struct step step = {.kind = BY_SYMBOL, .name = name};
	uint64_t names, symbol, members, count;
	bool same = false;
	struct rcore_error *err = rcore_struct(ruby, object, &members, &count);
	if (!err)
		err = rcore_struct_members(ruby, object, &names);
	for (uint64_t i = 0; !err && i < count && i < ITEM_LIMIT && !same; i++) {
		err = rcore_array_at(ruby, names, i, &symbol);
		if (!err)
			err = is_key(ruby, symbol, &step, &same);
		if (!err && same)
			*found = !rcore_read_u64(ruby->memory, members + i * sizeof(*ret), ret);
	}
	return err;
}

/* The type of object to which a step of each kind applies. */
static const int type_of_step[] = {
	[BY_STRING] = RCORE_T_HASH,
	[BY_SYMBOL] = RCORE_T_HASH,
	[BY_INDEX] = RCORE_T_ARRAY,
	[BY_MEMBER] = RCORE_T_STRUCT,
};

static struct rcore_error *take_step(struct rcore_ruby *ruby, const struct step *step,
				     uint64_t from, bool *found, uint64_t *ret)
{
	enum rcore_type type;
	*found = false;
	if (!rcore_is_object(ruby, from))
		return NULL;
	if (step->kind == BY_IVAR)
		return rcore_ivar_get(ruby, from, step->name, found, ret);
	struct rcore_error *err = rcore_type(ruby, from, &type);
	if (err || (int)type != type_of_step[step->kind])
		return err;
	if (step->kind == BY_INDEX)
		return element(ruby, from, step->index, found, ret);
	if (step->kind == BY_MEMBER)
		return member(ruby, from, step->name, found, ret);
	return look_up(ruby, from, step, found, ret);
}

struct rcore_error *rcore_value_path_follow(struct rcore_ruby *ruby,
					    const struct rcore_fiber *fiber,
					    const struct rcore_frame *frame,
					    const struct rcore_value_path *path,
					    struct rcore_path_value *ret)
{
	uint64_t value = 0;
	bool found = false;
	*ret = (struct rcore_path_value){0};
	struct rcore_error *err = start(ruby, fiber, frame, path, &found, &value);
	for (size_t i = 0; !err && found && i < path->count; i++) {
		const struct step *step = &path->steps[i];
		if (step->kind == BY_CLASS)
			err = rcore_value_class_name(ruby, value, &ret->text);
		else
			err = take_step(ruby, step, value, &found, &value);
	}
	ret->value = value;
	ret->found = !err && found && value && !rcore_is_nil(ruby, value);
	return err;
}
