/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_JSON_WRITER_H
#define RCORE_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "base/error.h"

/*
 * Writes JSON to a stream. Large arrays are opened, filled element by element
 * and closed; only one element at a time is a json-c tree, so memory does not
 * grow with the number of frames. (json-c is also used by elfutils' debuginfod:
 * it is small, in every distribution, and its strings accept any bytes.)
 */
struct rcore_json {
	FILE *out;
	int depth;
	bool has_elements; /* of the array or object that is open */
	bool no_memory;    /* a json-c call failed */
};

/* `key` is NULL in an array. `bracket` is '{' or '['. */
void rcore_json_open(struct rcore_json *json, const char *key, char bracket);
void rcore_json_close(struct rcore_json *json, char bracket); /* '}' or ']' */

/*
 * Writes the start of a value's line, or the value, for code that writes it
 * piece by piece.
 */
void rcore_json_start(struct rcore_json *json, const char *key);
void rcore_json_write(struct rcore_json *json, struct json_object *value);

/* Writes `value` on a line of its own, and releases it. */
void rcore_json_put(struct rcore_json *json, const char *key, struct json_object *value);

/* The same for a text, which may be NULL (null), and a number below 2^63. */
void rcore_json_put_text(struct rcore_json *json, const char *key, const char *text);
void rcore_json_put_number(struct rcore_json *json, const char *key, uint64_t number);

/*
 * Writes each member of the object `value` into the open object, and releases
 * it.
 */
void rcore_json_put_members(struct rcore_json *json, struct json_object *value);

/*
 * Add members to a json-c object. Unknown values are left out: NULL, 0 for an
 * address, false.
 */
struct json_object *rcore_json_object(struct rcore_json *json);
void rcore_json_add(struct rcore_json *json, struct json_object *object, const char *key,
		    struct json_object *value);
void rcore_json_add_int(struct rcore_json *json, struct json_object *object, const char *key,
			int64_t value);
void rcore_json_add_count(struct rcore_json *json, struct json_object *object, const char *key,
			  int64_t value); /* left out if 0 */
void rcore_json_add_flag(struct rcore_json *json, struct json_object *object, const char *key,
			 bool value);
void rcore_json_add_hex(struct rcore_json *json, struct json_object *object, const char *key,
			uint64_t value);

/*
 * Adds text of the target. JSON has no byte strings: if `text` is not valid
 * UTF-8, "key" has U+FFFD for each invalid byte, and "key_hex" the exact bytes.
 */
void rcore_json_add_text(struct rcore_json *json, struct json_object *object, const char *key,
			 const char *text);

/* Returns text of the target, with U+FFFD for each invalid byte. */
struct json_object *rcore_json_valid(struct rcore_json *json, const char *text);

/*
 * Returns the same of at most `most` bytes, at most RCORE_JSON_CUT_MAX; a
 * longer text ends with "...".
 */
enum { RCORE_JSON_CUT_MAX = 1024 };
struct json_object *rcore_json_cut(struct rcore_json *json, const char *text, size_t most);

/* Appends `item` to a json-c array, which owns it then. */
void rcore_json_push(struct rcore_json *json, struct json_object *array,
		     struct json_object *item);

/* Returns a string of rcore's own (an id, a word). */
struct json_object *rcore_json_string(struct rcore_json *json, const char *text);

#endif
