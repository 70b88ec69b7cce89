/* SPDX-License-Identifier: MIT */
#include "vm/work/recognizer.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/json_member.h"
#include "base/text.h"
#include "target/map_file.h"

/* The text of recognizers.json, embedded. */
extern const char rcore_recognizers_json[];

enum { FILE_LIMIT = 16 << 20 };

/* What is being read, for messages. */
struct source {
	struct rcore_recognizers *into;
	const char *file;
	size_t entry; /* counted from 1 */
	size_t first; /* index of the first entry of this file in `into` */
};

static struct rcore_error *refuse(const struct source *source, const char *why)
{
	char file[512];
	return rcore_error_create(
		RCORE_ERROR_FORMAT, "%s: recognizer %zu %s; docs/recognizers.md has examples",
		rcore_escape(file, sizeof(file), source->file), source->entry, why);
}

/* Copies a string, which must not be empty, into the arena. */
static struct rcore_error *read_text(const struct source *source, struct json_object *text,
				     const char *why, const char **ret)
{
	if (!json_object_is_type(text, json_type_string) || !json_object_get_string_len(text))
		return refuse(source, why);
	*ret = rcore_arena_strdup(&source->into->arena, json_object_get_string(text));
	return *ret ? NULL : rcore_error_no_memory();
}

static struct rcore_error *read_path(const struct source *source, struct json_object *text,
				     const struct rcore_value_path **ret)
{
	char file[512];
	const char *path;
	struct rcore_error *err =
		read_text(source, text, "has a field whose path is not a string", &path);
	if (!err)
		err = rcore_value_path_parse(&source->into->arena, path, ret);
	return rcore_error_wrap(err, "%s: recognizer %zu",
				rcore_escape(file, sizeof(file), source->file), source->entry);
}

static struct rcore_error *read_paths(const struct source *source, struct json_object *paths,
				      struct rcore_recognizer_field *field)
{
	bool is_list = json_object_is_type(paths, json_type_array);
	size_t count = is_list ? json_object_array_length(paths) : 1;
	struct rcore_error *err = NULL;
	if (!count)
		return refuse(source, "has a field without a path");
	field->paths = rcore_arena_alloc(&source->into->arena, count * sizeof(*field->paths));
	if (!field->paths)
		return rcore_error_no_memory();
	for (; !err && field->path_count < count; field->path_count++)
		err = read_path(source,
				is_list ? json_object_array_get_idx(paths, field->path_count)
					: paths,
				&field->paths[field->path_count]);
	return err;
}

static struct rcore_error *require(const struct source *source,
				   struct rcore_recognizer *recognizer,
				   struct json_object *names)
{
	for (size_t i = 0; i < json_object_array_length(names); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(names, i));
		bool found = false;
		for (size_t j = 0; j < recognizer->field_count; j++)
			if (rcore_same_text(recognizer->fields[j].name, name))
				recognizer->fields[j].is_required = found = true;
		if (!found)
			return refuse(source, "requires a field that it does not have");
	}
	return NULL;
}

static struct rcore_error *read_fields(const struct source *source,
				       struct rcore_recognizer *recognizer,
				       struct json_object *fields)
{
	struct rcore_arena *arena = &source->into->arena;
	size_t count = (size_t)json_object_object_length(fields);
	if (!count)
		return refuse(source, "has no fields");
	recognizer->fields = rcore_arena_alloc(arena, count * sizeof(*recognizer->fields));
	if (!recognizer->fields)
		return rcore_error_no_memory();
	json_object_object_foreach(fields, name, paths)
	{
		struct rcore_recognizer_field *field =
			&recognizer->fields[recognizer->field_count++];
		*field = (struct rcore_recognizer_field){
			.name = rcore_arena_strdup(arena, name)};
		struct rcore_error *err = field->name ? read_paths(source, paths, field)
						      : rcore_error_no_memory();
		if (err)
			return err;
	}
	return NULL;
}

static struct rcore_error *read_methods(const struct source *source,
					struct rcore_recognizer *recognizer,
					struct json_object *methods)
{
	size_t count = json_object_array_length(methods);
	struct rcore_error *err = NULL;
	if (!count)
		return refuse(source, "has no methods");
	recognizer->methods =
		rcore_arena_alloc(&source->into->arena, count * sizeof(*recognizer->methods));
	if (!recognizer->methods)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count && !err; i++)
		err = read_text(source, json_object_array_get_idx(methods, i),
				"has a method that is not a string",
				&recognizer->methods[recognizer->method_count++]);
	return err;
}

static struct rcore_error *read_take(const struct source *source,
				     struct rcore_recognizer *recognizer,
				     struct json_object *take)
{
	const char *text = json_object_get_string(take);
	recognizer->is_innermost = rcore_same_text(text, "innermost");
	return recognizer->is_innermost || rcore_same_text(text, "outermost")
		       ? NULL
		       : refuse(source, "takes neither the \"outermost\" nor the "
					"\"innermost\" frame");
}

/* In the order in which they are read: `requires` names fields. */
enum member { NAME, KIND, METHODS, TAKE, FIELDS, REQUIRES, MEMBERS };
static const struct {
	const char *name;
	enum json_type type;
	bool is_optional;
} members[MEMBERS] = {
	[NAME] = {"name", json_type_string, false},
	[KIND] = {"kind", json_type_string, false},
	[METHODS] = {"methods", json_type_array, false},
	[TAKE] = {"take", json_type_string, true},
	[FIELDS] = {"fields", json_type_object, false},
	[REQUIRES] = {"requires", json_type_array, true},
};

static struct rcore_error *read_member(const struct source *source,
				       struct rcore_recognizer *recognizer, enum member member,
				       struct json_object *value)
{
	switch (member) {
	case NAME:
		return read_text(source, value, "has an empty name", &recognizer->name);
	case KIND:
		return read_text(source, value, "has an empty kind", &recognizer->kind);
	case METHODS:
		return read_methods(source, recognizer, value);
	case TAKE:
		return read_take(source, recognizer, value);
	case FIELDS:
		return read_fields(source, recognizer, value);
	default:
		return require(source, recognizer, value);
	}
}

static struct rcore_error *check_members(const struct source *source, struct json_object *entry)
{
	char why[128], escaped[64];
	if (!json_object_is_type(entry, json_type_object))
		return refuse(source, "is not an object");
	json_object_object_foreach(entry, name, value)
	{
		(void)value;
		enum member member = 0;
		while (member < MEMBERS && strcmp(members[member].name, name) != 0)
			member++;
		if (member < MEMBERS)
			continue;
		snprintf(why, sizeof(why), "has an unknown member '%s'",
			 rcore_escape(escaped, sizeof(escaped), name));
		return refuse(source, why);
	}
	return NULL;
}

/* Returns the index of the entry of this name, or the number of entries. */
static size_t find(const struct rcore_recognizers *recognizers, const char *name)
{
	size_t i = 0;
	while (i < recognizers->count && !rcore_same_text(recognizers->items[i].name, name))
		i++;
	return i;
}

static struct rcore_error *read_entry(const struct source *source, struct json_object *entry)
{
	struct rcore_recognizer recognizer = {0};
	struct rcore_error *err = check_members(source, entry);
	for (enum member member = 0; member < MEMBERS && !err; member++) {
		char why[64];
		struct json_object *value = NULL;
		json_object_object_get_ex(entry, members[member].name, &value);
		if (!value && members[member].is_optional)
			continue;
		snprintf(why, sizeof(why), "has no %s \"%s\"",
			 json_type_to_name(members[member].type), members[member].name);
		err = json_object_is_type(value, members[member].type)
			      ? read_member(source, &recognizer, member, value)
			      : refuse(source, why);
	}
	if (err)
		return err;
	size_t known = find(source->into, recognizer.name);
	if (known < source->into->count)
		return known < source->first ? NULL
					     : refuse(source, "has the name of an earlier one");
	struct rcore_recognizer *item = rcore_push(source->into);
	if (!item)
		return rcore_error_no_memory();
	*item = recognizer;
	return NULL;
}

static struct rcore_error *read_entries(struct source *source, struct json_object *root)
{
	char file[512];
	struct json_object *list = NULL;
	struct rcore_error *err = NULL;
	json_object_object_get_ex(root, "recognizers", &list);
	rcore_escape(file, sizeof(file), source->file);
	if (!json_object_is_type(list, json_type_array))
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: there is no array \"recognizers\"; "
					  "docs/recognizers.md has examples",
					  file);
	if (json_object_array_length(list) > RCORE_RECOGNIZER_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT, "%s: more than %d recognizers",
					  file, RCORE_RECOGNIZER_LIMIT);
	for (size_t i = 0; i < json_object_array_length(list) && !err; i++) {
		source->entry = i + 1;
		err = read_entry(source, json_object_array_get_idx(list, i));
	}
	return err;
}

static struct rcore_error *parse(struct rcore_recognizers *recognizers, const char *file,
				 const char *text, size_t size)
{
	struct source source = {.into = recognizers, .file = file, .first = recognizers->count};
	char escaped[512];
	struct rcore_error *err;
	struct json_tokener *tokener = json_tokener_new();
	if (!tokener)
		return rcore_error_no_memory();
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	struct json_object *root = json_tokener_parse_ex(tokener, text, (int)size);
	enum json_tokener_error error = json_tokener_get_error(tokener);
	if (!root && rcore_json_lacks_memory(tokener, text, size))
		err = rcore_error_no_memory();
	else if (error == json_tokener_success)
		err = read_entries(&source, root);
	else
		err = rcore_error_create(
			RCORE_ERROR_FORMAT, "%s: not JSON: %s at byte %zu",
			rcore_escape(escaped, sizeof(escaped), file),
			json_tokener_error_desc(error == json_tokener_continue
							? json_tokener_error_parse_eof
							: error),
			json_tokener_get_parse_end(tokener));
	json_object_put(root);
	json_tokener_free(tokener);
	return err;
}

static struct rcore_error *read_file(struct rcore_recognizers *recognizers, const char *file)
{
	char escaped[512];
	struct rcore_mapped_file map;
	int errnum = rcore_map_file(file, false, &map);
	rcore_escape(escaped, sizeof(escaped), file);
	struct rcore_error *err = NULL;
	if (errnum == EINVAL)
		err = rcore_error_create(
			RCORE_ERROR_FORMAT,
			"%s: cannot read the recognizers: it is not a plain file", escaped);
	else if (errnum)
		err = rcore_error_os(errnum, "%s: cannot read the recognizers", escaped);
	else if (map.size > FILE_LIMIT)
		err = rcore_error_create(RCORE_ERROR_LIMIT,
					 "%s: the file is larger than 16 MiB", escaped);
	else
		err = parse(recognizers, file, map.bytes ? (const char *)map.bytes : "",
			    map.size);
	rcore_unmap_file(&map);
	return err;
}

struct rcore_error *rcore_recognizers_read(struct rcore_recognizers *recognizers,
					   const char *file)
{
	struct rcore_error *err = file ? read_file(recognizers, file) : NULL;
	return err ? err
		   : parse(recognizers, "recognizers.json", rcore_recognizers_json,
			   strlen(rcore_recognizers_json));
}

void rcore_recognizers_deinit(struct rcore_recognizers *recognizers)
{
	free(recognizers->items);
	rcore_arena_deinit(&recognizers->arena);
	*recognizers = (struct rcore_recognizers){0};
}

bool rcore_recognizer_matches(const struct rcore_recognizer *recognizer, const char *label)
{
	size_t length = strlen(label);
	for (size_t i = 0; i < recognizer->method_count; i++) {
		const char *method = recognizer->methods[i];
		size_t skipped = 0;
		if (*method == '#' && length > strlen(method) && !strchr(label, ' '))
			skipped = length - strlen(method);
		if (!strcmp(label + skipped, method))
			return true;
	}
	return false;
}
