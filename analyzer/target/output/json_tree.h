/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_JSON_TREE_H
#define RCORE_TARGET_JSON_TREE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes json-c's values. If memory is short, json-c's own
 * json_object_to_json_string() leaves out text without an error, and a value
 * that could not be added to an array may be a null there. rcore never adds a
 * null itself, so a null shows that a value is missing.
 */

/*
 * Writes a value as JSON without spaces, and calls `write_text` for text in
 * strings that JSON does not escape. Returns false if a part is missing.
 */
bool rcore_json_tree_write(struct json_object *value,
			   void (*write_text)(FILE *out, const char *text, size_t size),
			   FILE *out);

/*
 * Returns the same as a string, malloc'ed; bytes that are not UTF-8 stay as
 * they are. Returns NULL if a part is missing, or if memory is short.
 */
char *rcore_json_tree_text(struct json_object *value, size_t *ret_size);

#endif
