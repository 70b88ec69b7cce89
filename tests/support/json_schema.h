/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_JSON_SCHEMA_H
#define RCORE_TESTS_JSON_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

/*
 * Validates a document against a JSON Schema. Knows as much of the language as
 * docs/rcore-1.schema.json uses (type, const, enum, pattern, properties,
 * required, items, $ref into $defs). Stricter in one point: a property that the
 * schema does not name is an error, so that no field stays undocumented. If the
 * document is not valid, `why` says why.
 */
bool json_schema_valid(struct json_object *schema, struct json_object *document, char *why,
		       size_t why_size);

#endif
