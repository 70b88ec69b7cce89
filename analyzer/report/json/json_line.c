/* SPDX-License-Identifier: MIT */
#include "report/json/json_line.h"

#include <string.h>

static void flush(struct rcore_json_line *line)
{
	fwrite_unlocked(line->buffer, 1, line->used, line->json->out);
	line->used = 0;
}

static void append(struct rcore_json_line *line, const char *text, size_t size)
{
	if (size > sizeof(line->buffer) - line->used) {
		flush(line);
		if (size > sizeof(line->buffer)) {
			fwrite_unlocked(text, 1, size, line->json->out);
			return;
		}
	}
	memcpy(line->buffer + line->used, text, size);
	line->used += size;
}

static void write_key(struct rcore_json_line *line, const char *key)
{
	append(line, line->has_members ? ",\"" : "{\"", 2);
	append(line, key, strlen(key));
	append(line, "\":", 2);
	line->has_members = true;
}

void rcore_json_line_begin(struct rcore_json *json, struct rcore_json_line *ret)
{
	rcore_json_start(json, NULL);
	ret->json = json;
	ret->has_members = false;
	ret->used = 0;
}

void rcore_json_line_end(struct rcore_json_line *line)
{
	append(line, line->has_members ? "}" : "{}", line->has_members ? 1 : 2);
	flush(line);
}

/* Writes the digits of `value` to the end of the buffer. */
static char *digits(uint64_t value, unsigned base, char *end)
{
	do
		*--end = "0123456789abcdef"[value % base];
	while (value /= base);
	return end;
}

enum { MOST_DIGITS = 24 };

void rcore_json_line_int(struct rcore_json_line *line, const char *key, int64_t value)
{
	char buffer[MOST_DIGITS], *end = buffer + sizeof(buffer);
	char *first = digits(value < 0 ? -(uint64_t)value : (uint64_t)value, 10, end);
	if (value < 0)
		*--first = '-';
	write_key(line, key);
	append(line, first, (size_t)(end - first));
}

void rcore_json_line_count(struct rcore_json_line *line, const char *key, int64_t value)
{
	if (value)
		rcore_json_line_int(line, key, value);
}

void rcore_json_line_flag(struct rcore_json_line *line, const char *key, bool value)
{
	if (!value)
		return;
	write_key(line, key);
	append(line, "true", 4);
}

void rcore_json_line_hex(struct rcore_json_line *line, const char *key, uint64_t value)
{
	char buffer[MOST_DIGITS], *end = buffer + sizeof(buffer) - 1;
	if (!value)
		return;
	*end = '"';
	char *first = digits(value, 16, end);
	*--first = 'x';
	*--first = '0';
	*--first = '"';
	write_key(line, key);
	append(line, first, (size_t)(end + 1 - first));
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

void rcore_json_line_text(struct rcore_json_line *line, const char *key, const char *text)
{
	if (!text)
		return;
	if (!is_plain(text)) {
		struct json_object *object = rcore_json_object(line->json);
		rcore_json_add_text(line->json, object, key, text);
		rcore_json_line_members(line, object);
		return;
	}
	write_key(line, key);
	append(line, "\"", 1);
	append(line, text, strlen(text));
	append(line, "\"", 1);
}

void rcore_json_line_members(struct rcore_json_line *line, struct json_object *object)
{
	if (object) {
		json_object_object_foreach(object, key, member)
		{
			write_key(line, key);
			flush(line);
			rcore_json_write(line->json, member);
		}
	}
	json_object_put(object);
}
