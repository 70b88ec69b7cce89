/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "report/profile/firefox.h"

void rcore_firefox_put_empty(struct rcore_json *json, const char *key)
{
	rcore_json_open(json, key, '[');
	rcore_json_close(json, ']');
}

void rcore_firefox_put_no_rows(struct rcore_json *json, const char *key,
			       const char *const *columns)
{
	rcore_json_open(json, key, '{');
	for (; *columns; columns++)
		rcore_firefox_put_empty(json, *columns);
	rcore_json_put_number(json, "length", 0);
	rcore_json_close(json, '}');
}

/* Writes a column of `count` equal values, or of those that `value` returns. */
static void put_column(struct rcore_firefox *writer, const char *key, size_t count,
		       const char *same,
		       int64_t (*value)(const struct rcore_firefox *writer, uint32_t place))
{
	FILE *out = writer->json.out;
	rcore_json_start(&writer->json, key);
	putc('[', out);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(',', out);
		int64_t number = value ? value(writer, i) : 0;
		if (!value || number < 0)
			fputs(same, out);
		else
			fprintf(out, "%" PRId64, number);
	}
	putc(']', out);
}

static const struct rcore_profile_node *node_at(const struct rcore_firefox *writer,
						uint32_t place)
{
	return rcore_profile_node_at(writer->profile, writer->nodes.entries[place]);
}

static const struct rcore_profile_function *function_at(const struct rcore_firefox *writer,
							uint32_t place)
{
	return rcore_profile_function_at(writer->profile, writer->functions.entries[place]);
}

/* Columns. A negative number means null. */
static int64_t own_place(const struct rcore_firefox *writer, uint32_t place)
{
	return place;
}

static int64_t prefix_of(const struct rcore_firefox *writer, uint32_t place)
{
	return (int64_t)writer->nodes.plus_one[node_at(writer, place)->parent] - 1;
}

static int64_t function_of(const struct rcore_firefox *writer, uint32_t place)
{
	const struct rcore_profile_frame *frame =
		rcore_profile_frame_at(writer->profile, node_at(writer, place)->frame);
	return (int64_t)writer->functions.plus_one[frame->function] - 1;
}

static int64_t category_of(const struct rcore_firefox *writer, uint32_t place)
{
	const struct rcore_profile_frame *frame =
		rcore_profile_frame_at(writer->profile, node_at(writer, place)->frame);
	uint32_t kind = rcore_profile_function_at(writer->profile, frame->function)->kind;
	return kind < RCORE_FUNCTION_KINDS ? kind : RCORE_FUNCTION_NONE;
}

static int64_t line_of(const struct rcore_firefox *writer, uint32_t place)
{
	uint32_t line =
		rcore_profile_frame_at(writer->profile, node_at(writer, place)->frame)->line;
	return line ? (int64_t)line : -1;
}

static int64_t name_of(const struct rcore_firefox *writer, uint32_t place)
{
	return (int64_t)writer->strings.plus_one[function_at(writer, place)->label] - 1;
}

static int64_t path_of(const struct rcore_firefox *writer, uint32_t place)
{
	uint32_t path = function_at(writer, place)->path;
	return path ? (int64_t)writer->strings.plus_one[path] - 1 : -1;
}

static int64_t first_line_of(const struct rcore_firefox *writer, uint32_t place)
{
	uint32_t line = function_at(writer, place)->first_line;
	return line ? (int64_t)line : -1;
}

void rcore_firefox_use_stack(struct rcore_firefox *writer, uint32_t node, uint32_t *stack)
{
	size_t depth = 0;
	for (; node && !writer->nodes.plus_one[node];
	     node = rcore_profile_node_at(writer->profile, node)->parent)
		stack[depth++] = node;
	while (depth) {
		const struct rcore_profile_frame *frame = rcore_profile_frame_at(
			writer->profile,
			rcore_profile_node_at(writer->profile, stack[--depth])->frame);
		const struct rcore_profile_function *function =
			rcore_profile_function_at(writer->profile, frame->function);
		rcore_numbering_add(&writer->nodes, stack[depth]);
		rcore_numbering_add(&writer->functions, frame->function);
		rcore_numbering_add(&writer->strings, function->label);
		rcore_numbering_add(&writer->strings, function->path);
	}
}

static void put_used_tables(struct rcore_firefox *writer)
{
	struct rcore_json *json = &writer->json;
	size_t nodes = writer->nodes.count, functions = writer->functions.count;
	rcore_json_open(json, "stackTable", '{');
	put_column(writer, "frame", nodes, "null", own_place);
	put_column(writer, "prefix", nodes, "null", prefix_of);
	put_column(writer, "category", nodes, "null", category_of);
	put_column(writer, "subcategory", nodes, "0", NULL);
	rcore_json_put_number(json, "length", nodes);
	rcore_json_close(json, '}');

	rcore_json_open(json, "frameTable", '{');
	put_column(writer, "address", nodes, "-1", NULL);
	put_column(writer, "inlineDepth", nodes, "0", NULL);
	put_column(writer, "category", nodes, "null", category_of);
	put_column(writer, "subcategory", nodes, "0", NULL);
	put_column(writer, "func", nodes, "null", function_of);
	put_column(writer, "nativeSymbol", nodes, "null", NULL);
	put_column(writer, "innerWindowID", nodes, "0", NULL);
	put_column(writer, "implementation", nodes, "null", NULL);
	put_column(writer, "line", nodes, "null", line_of);
	put_column(writer, "column", nodes, "null", NULL);
	rcore_json_put_number(json, "length", nodes);
	rcore_json_close(json, '}');

	rcore_json_open(json, "funcTable", '{');
	put_column(writer, "isJS", functions, "false", NULL);
	put_column(writer, "relevantForJS", functions, "false", NULL);
	put_column(writer, "name", functions, "null", name_of);
	put_column(writer, "resource", functions, "-1", NULL);
	put_column(writer, "fileName", functions, "null", path_of);
	put_column(writer, "lineNumber", functions, "null", first_line_of);
	put_column(writer, "columnNumber", functions, "null", NULL);
	rcore_json_put_number(json, "length", functions);
	rcore_json_close(json, '}');
}

static void put_unused_tables(struct rcore_json *json)
{
	static const char *const resources[] = {"lib", "name", "host", "type", NULL};
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize",
					      NULL};
	static const char *const markers[] = {"data",  "name",     "startTime", "endTime",
					      "phase", "category", NULL};
	rcore_firefox_put_no_rows(json, "resourceTable", resources);
	rcore_firefox_put_no_rows(json, "nativeSymbols", symbols);
	rcore_firefox_put_no_rows(json, "markers", markers);
	rcore_firefox_put_empty(json, "pausedRanges");
}

static void put_strings(struct rcore_firefox *writer)
{
	struct rcore_json *json = &writer->json;
	rcore_json_open(json, "stringArray", '[');
	for (uint32_t i = 0; i < writer->strings.count; i++) {
		const char *text =
			rcore_profile_text(writer->profile, writer->strings.entries[i]);
		rcore_json_put_text(json, NULL, text[0] ? text : "(unknown)");
	}
	rcore_json_close(json, ']');
}

void rcore_firefox_put_tables(struct rcore_firefox *writer)
{
	put_used_tables(writer);
	put_unused_tables(&writer->json);
	put_strings(writer);
}
