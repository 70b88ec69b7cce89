/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_JSON_WRITER_H
#define RCORE_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "base/error.h"

/*
 * JSON in a stream: the large arrays are opened, filled element by element and
 * closed, and only one element at a time is a json-c tree, so that memory does
 * not grow with the number of frames. (json-c, because it is what elfutils'
 * debuginfod uses: small, in every distribution, and its strings take any
 * bytes.)
 */
struct rcore_json {
	FILE *out;
	int depth;
	bool has_elements; /* of what is open now */
	bool no_memory;    /* a json-c call failed */
};

/* `key` is NULL in an array. `bracket` is '{' or '['. */
void rcore_json_open(struct rcore_json *json, const char *key, char bracket);
void rcore_json_close(struct rcore_json *json, char bracket); /* '}' or ']' */

/*
 * The start of a value's line, and the value; for those that write one piece by
 * piece.
 */
void rcore_json_start(struct rcore_json *json, const char *key);
void rcore_json_write(struct rcore_json *json, struct json_object *value);

/* Writes `value`, on a line of its own, and gives it back. */
void rcore_json_put(struct rcore_json *json, const char *key, struct json_object *value);

/*
 * Writes each member of the object `value` into the object that is open, and
 * gives it back.
 */
void rcore_json_put_members(struct rcore_json *json, struct json_object *value);

/*
 * Members of a json-c object. Not known is left out: NULL, 0 for an address,
 * false.
 */
struct json_object *rcore_json_object(struct rcore_json *json);
void rcore_json_add(struct rcore_json *json, struct json_object *object, const char *key,
		    struct json_object *value);
void rcore_json_add_int(struct rcore_json *json, struct json_object *object, const char *key,
			int64_t value);
void rcore_json_add_count(struct rcore_json *json, struct json_object *object, const char *key,
			  int64_t value); /* left out when 0 */
void rcore_json_add_flag(struct rcore_json *json, struct json_object *object, const char *key,
			 bool value);
void rcore_json_add_hex(struct rcore_json *json, struct json_object *object, const char *key,
			uint64_t value);

/*
 * Text of the target. JSON has no strings of bytes: where `text` is not valid
 * UTF-8, "key" has U+FFFD for each byte that does not fit, and "key_hex" the
 * exact bytes.
 */
void rcore_json_add_text(struct rcore_json *json, struct json_object *object, const char *key,
			 const char *text);

/* A string of the analyzer's own (an id, a word). */
struct json_object *rcore_json_string(struct rcore_json *json, const char *text);

#endif
