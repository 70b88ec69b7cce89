/* SPDX-License-Identifier: MIT */
#include "target/output/json_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct sink {
	FILE *out;
	void (*write_text)(FILE *out, const char *text, size_t size);
	bool no_memory;
};

static void put(struct sink *sink, const char *text, size_t size)
{
	fwrite_unlocked(text, 1, size, sink->out);
}

static void put_word(struct sink *sink, const char *word)
{
	put(sink, word, strlen(word));
}

static bool is_plain(char c)
{
	return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

static void put_escape(struct sink *sink, char c)
{
	static const char letters[] = "b\bn\nr\rt\tf\f\"\"\\\\";
	char escape[8];
	for (size_t i = 0; letters[i]; i += 2) {
		if (letters[i + 1] != c)
			continue;
		put(sink, (char[]){'\\', letters[i]}, 2);
		return;
	}
	snprintf(escape, sizeof(escape), "\\u%04x", (unsigned char)c);
	put_word(sink, escape);
}

static void put_string(struct sink *sink, const char *text, size_t size)
{
	put(sink, "\"", 1);
	for (size_t at = 0; at < size;) {
		size_t end = at;
		while (end < size && is_plain(text[end]))
			end++;
		if (end > at)
			sink->write_text(sink->out, text + at, end - at);
		if (end < size)
			put_escape(sink, text[end++]);
		at = end;
	}
	put(sink, "\"", 1);
}

/* json-c keeps numbers above INT64_MAX as unsigned ones. */
static void put_int(struct sink *sink, struct json_object *value)
{
	char text[24];
	int64_t number = json_object_get_int64(value);
	if (number < INT64_MAX)
		snprintf(text, sizeof(text), "%" PRId64, number);
	else
		snprintf(text, sizeof(text), "%" PRIu64, json_object_get_uint64(value));
	put_word(sink, text);
}

/* json-c has room for any number before it writes one. */
static void put_double(struct sink *sink, struct json_object *value)
{
	const char *text = json_object_to_json_string(value);
	sink->no_memory |= !text;
	put_word(sink, text ? text : "null");
}

static void put_value(struct sink *sink, struct json_object *value);

static void put_array(struct sink *sink, struct json_object *array)
{
	size_t count = json_object_array_length(array);
	put(sink, "[", 1);
	for (size_t i = 0; i < count; i++) {
		if (i)
			put(sink, ",", 1);
		put_value(sink, json_object_array_get_idx(array, i));
	}
	put(sink, "]", 1);
}

static void put_object(struct sink *sink, struct json_object *object)
{
	bool is_first = true;
	put(sink, "{", 1);
	json_object_object_foreach(object, key, value)
	{
		if (!is_first)
			put(sink, ",", 1);
		is_first = false;
		put_string(sink, key, strlen(key));
		put(sink, ":", 1);
		put_value(sink, value);
	}
	put(sink, "}", 1);
}

/* Recurses as deep as rcore nests values, whatever the target contains. */
static void put_value(struct sink *sink, struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		sink->no_memory = true;
		put_word(sink, "null");
		break;
	case json_type_boolean:
		put_word(sink, json_object_get_boolean(value) ? "true" : "false");
		break;
	case json_type_double:
		put_double(sink, value);
		break;
	case json_type_int:
		put_int(sink, value);
		break;
	case json_type_object:
		put_object(sink, value);
		break;
	case json_type_array:
		put_array(sink, value);
		break;
	case json_type_string:
		put_string(sink, json_object_get_string(value),
			   (size_t)json_object_get_string_len(value));
		break;
	}
}

bool rcore_json_tree_write(struct json_object *value,
			   void (*write_text)(FILE *out, const char *text, size_t size),
			   FILE *out)
{
	struct sink sink = {.out = out, .write_text = write_text};
	put_value(&sink, value);
	return !sink.no_memory;
}

static void write_plain(FILE *out, const char *text, size_t size)
{
	fwrite_unlocked(text, 1, size, out);
}

char *rcore_json_tree_text(struct json_object *value, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = rcore_open_text(&text, ret_size);
	bool is_whole = out && rcore_json_tree_write(value, write_plain, out);
	if ((!out || !fclose(out)) && is_whole)
		return text;
	free(text);
	return NULL;
}
