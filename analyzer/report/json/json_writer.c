/* SPDX-License-Identifier: MIT */
#include "report/json/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "target/output/json_tree.h"

static struct json_object *checked(struct rcore_json *json, struct json_object *value)
{
	if (!value)
		json->no_memory = true;
	return value;
}

static void start_line(const struct rcore_json *json)
{
	putc_unlocked('\n', json->out);
	for (int i = 0; i < json->depth; i++)
		putc_unlocked(' ', json->out);
}

void rcore_json_start(struct rcore_json *json, const char *key)
{
	if (json->has_elements)
		putc_unlocked(',', json->out);
	if (json->depth)
		start_line(json);
	if (key) {
		putc_unlocked('"', json->out);
		fputs_unlocked(key, json->out);
		fputs_unlocked("\": ", json->out);
	}
	json->has_elements = true;
}

void rcore_json_open(struct rcore_json *json, const char *key, char bracket)
{
	rcore_json_start(json, key);
	putc_unlocked(bracket, json->out);
	json->depth++;
	json->has_elements = false;
}

void rcore_json_close(struct rcore_json *json, char bracket)
{
	json->depth--;
	if (json->has_elements)
		start_line(json);
	putc_unlocked(bracket, json->out);
	json->has_elements = true;
}

/*
 * JSON need not escape characters after U+007E. Those that must not reach a
 * terminal are written as its \u escapes, which any parser decodes. What
 * follows the text is ASCII.
 */
static void write_safe(FILE *out, const char *text, size_t size)
{
	const char *end = text + size;
	while (text < end) {
		size_t plain = 0;
		while (text + plain < end && text[plain] > 0 && text[plain] < 0x7f)
			plain++;
		fwrite_unlocked(text, 1, plain, out);
		text += plain;
		if (text == end)
			break;
		uint32_t character;
		size_t length = rcore_utf8_decode(text, &character);
		if (!length) {
			length = 1;
			fputs("\\ufffd", out);
		} else if (!rcore_unsafe_character(character)) {
			fwrite(text, 1, length, out);
		} else if (character > 0xffff) {
			character -= 0x10000;
			fprintf(out, "\\u%04x\\u%04x", 0xd800 | character >> 10,
				0xdc00 | (character & 0x3ff));
		} else {
			fprintf(out, "\\u%04x", character);
		}
		text += length;
	}
}

void rcore_json_write(struct rcore_json *json, struct json_object *value)
{
	if (!rcore_json_tree_write(value, write_safe, json->out))
		json->no_memory = true;
}

void rcore_json_put(struct rcore_json *json, const char *key, struct json_object *value)
{
	rcore_json_start(json, key);
	rcore_json_write(json, value);
	json_object_put(value);
}

void rcore_json_put_text(struct rcore_json *json, const char *key, const char *text)
{
	rcore_json_put(json, key, rcore_json_string(json, text));
}

void rcore_json_put_number(struct rcore_json *json, const char *key, uint64_t number)
{
	rcore_json_put(json, key, json_object_new_int64((int64_t)number));
}

void rcore_json_put_members(struct rcore_json *json, struct json_object *value)
{
	if (value) {
		json_object_object_foreach(value, key, member)
		{
			rcore_json_start(json, key);
			rcore_json_write(json, member);
		}
	}
	json_object_put(value);
}

struct json_object *rcore_json_object(struct rcore_json *json)
{
	return checked(json, json_object_new_object());
}

struct json_object *rcore_json_cut(struct rcore_json *json, const char *text, size_t most)
{
	char cut[RCORE_JSON_CUT_MAX + 4];
	size_t size =
		rcore_utf8_cut(text, most < RCORE_JSON_CUT_MAX ? most : RCORE_JSON_CUT_MAX);
	if (!text[size])
		return rcore_json_valid(json, text);
	memcpy(cut, text, size);
	memcpy(cut + size, "...", 4);
	return rcore_json_valid(json, cut);
}

struct json_object *rcore_json_string(struct rcore_json *json, const char *text)
{
	return checked(json, json_object_new_string(text));
}

void rcore_json_push(struct rcore_json *json, struct json_object *array,
		     struct json_object *item)
{
	if (!array || json_object_array_add(array, item) < 0) {
		json->no_memory = true;
		json_object_put(item);
	}
}

void rcore_json_add(struct rcore_json *json, struct json_object *object, const char *key,
		    struct json_object *value)
{
	if (!object || !value ||
	    json_object_object_add_ex(object, key, value,
				      JSON_C_OBJECT_ADD_KEY_IS_NEW |
					      JSON_C_OBJECT_KEY_IS_CONSTANT) < 0) {
		json->no_memory = true;
		json_object_put(value);
	}
}

void rcore_json_add_int(struct rcore_json *json, struct json_object *object, const char *key,
			int64_t value)
{
	rcore_json_add(json, object, key, json_object_new_int64(value));
}

void rcore_json_add_count(struct rcore_json *json, struct json_object *object, const char *key,
			  int64_t value)
{
	if (value)
		rcore_json_add_int(json, object, key, value);
}

void rcore_json_add_flag(struct rcore_json *json, struct json_object *object, const char *key,
			 bool value)
{
	if (value)
		rcore_json_add(json, object, key, json_object_new_boolean(true));
}

void rcore_json_add_hex(struct rcore_json *json, struct json_object *object, const char *key,
			uint64_t value)
{
	char text[24];
	if (!value)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	rcore_json_add(json, object, key, json_object_new_string(text));
}

/* U+FFFD has three bytes, so three times the length is always enough. */
static char *replace_invalid(const char *text)
{
	char *valid = malloc(3 * strlen(text) + 1);
	if (!valid)
		return NULL;
	char *out = valid;
	while (*text) {
		uint32_t character;
		size_t length = rcore_utf8_decode(text, &character);
		if (length) {
			out = mempcpy(out, text, length);
			text += length;
		} else {
			out = mempcpy(out, "\xef\xbf\xbd", 3);
			text++;
		}
	}
	*out = '\0';
	return valid;
}

struct json_object *rcore_json_valid(struct rcore_json *json, const char *text)
{
	char *valid = replace_invalid(text);
	struct json_object *string = valid ? json_object_new_string(valid) : NULL;
	free(valid);
	return checked(json, string);
}

static char *hex_of(const char *text)
{
	size_t length = strlen(text);
	char *hex = malloc(2 * length + 1);
	for (size_t i = 0; hex && i <= length; i++)
		snprintf(hex + 2 * i, i < length ? 3 : 1, "%02x", (unsigned char)text[i]);
	return hex;
}

void rcore_json_add_text(struct rcore_json *json, struct json_object *object, const char *key,
			 const char *text)
{
	if (!text)
		return;
	if (rcore_utf8_valid(text)) {
		rcore_json_add(json, object, key, json_object_new_string(text));
		return;
	}
	char *valid = replace_invalid(text), *hex = hex_of(text), *hex_key = NULL;
	if (!valid || !hex || asprintf(&hex_key, "%s_hex", key) < 0) {
		json->no_memory = true;
	} else {
		rcore_json_add(json, object, key, json_object_new_string(valid));
		if (!object ||
		    json_object_object_add(object, hex_key, json_object_new_string(hex)) < 0)
			json->no_memory = true;
	}
	free(hex_key);
	free(hex);
	free(valid);
}
