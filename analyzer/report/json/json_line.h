/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_JSON_LINE_H
#define RCORE_REPORT_JSON_LINE_H

#include "report/json/json_writer.h"

/*
 * An object of plain members on a line of its own, written while it is filled.
 * There may be 100,000 frames, and a json-c tree for each would cost as much as
 * the whole analysis. json-c writes text that is not printable ASCII. The
 * output equals that of rcore_json_put() for such an object.
 */
struct rcore_json_line {
	struct rcore_json *json;
	bool has_members;
	size_t used; /* of what is not written yet */
	char buffer[512];
};

void rcore_json_line_begin(struct rcore_json *json, struct rcore_json_line *ret);
void rcore_json_line_end(struct rcore_json_line *line);

/* Like rcore_json_add_int() and so on. */
void rcore_json_line_int(struct rcore_json_line *line, const char *key, int64_t value);
void rcore_json_line_count(struct rcore_json_line *line, const char *key, int64_t value);
void rcore_json_line_flag(struct rcore_json_line *line, const char *key, bool value);
void rcore_json_line_hex(struct rcore_json_line *line, const char *key, uint64_t value);
void rcore_json_line_text(struct rcore_json_line *line, const char *key, const char *text);

/* Writes the members of a json-c object and releases it. */
void rcore_json_line_members(struct rcore_json_line *line, struct json_object *object);

#endif
