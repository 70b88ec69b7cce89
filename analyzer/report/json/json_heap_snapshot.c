/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "report/heap_export.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

/*
 * V8's format, as its HeapSnapshotJSONSerializer writes it and the
 * HeapSnapshotLoader of Chrome DevTools reads it: flat arrays of numbers, which
 * "meta" describes. Readers look for the keys in this order. Node 0 is the
 * root. An edge names its target by the index of the target's first number.
 */
static const char meta[] =
	"{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\","
	"\"trace_node_id\",\"detachedness\"],"
	"\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\","
	"\"regexp\",\"number\",\"native\",\"synthetic\",\"concatenated string\","
	"\"sliced string\",\"symbol\",\"bigint\",\"object shape\"],"
	"\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
	"\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],"
	"\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\","
	"\"shortcut\",\"weak\"],\"string_or_number\",\"node\"],"
	"\"trace_function_info_fields\":[],\"trace_node_fields\":[],\"sample_fields\":[],"
	"\"location_fields\":[]}";

enum { NODE_FIELDS = 7 };
enum node_type { HIDDEN = 0, OBJECT = 3, SYNTHETIC = 9 };
enum edge_type { ELEMENT = 1, PROPERTY = 2, INTERNAL = 3 };

/* Of the text before those of the export. */
enum { STRING_ROOT, OWN_STRINGS };

struct writer {
	const struct rcore_heap_export *export;
	const struct rcore_heap_walk *walk;
	FILE *out;
	/* By index in the export: the number of the string. */
	uint32_t *steps, *roots;
	bool has_before; /* a number of the array */
};

static bool is_slot(const struct writer *writer, uint32_t node)
{
	return node < writer->export->heap->node_count;
}

static uint64_t owner_name(const struct writer *writer, const struct rcore_heap_owner *owner)
{
	return writer
		->roots[(size_t)owner->kind * writer->export->heap->name_count + owner->name];
}

static void begin_row(struct writer *writer)
{
	if (writer->has_before)
		putc(',', writer->out);
	putc('\n', writer->out);
	writer->has_before = true;
}

static void put_node(struct writer *writer, uint32_t node)
{
	const struct rcore_heap *heap = writer->export->heap;
	const uint32_t *targets;
	uint32_t first, end;
	uint64_t name = STRING_ROOT, bytes = 0, id = (uint64_t)node * 2;
	enum node_type type = SYNTHETIC;
	rcore_heap_walk_edges(writer->walk, node, &targets, &first, &end);
	if (is_slot(writer, node)) {
		uint32_t title = writer->export->title[node];
		/* "(iseq)" and the like are objects of the VM. */
		type = writer->export->titles[title][0] == '(' ? HIDDEN : OBJECT;
		name = OWN_STRINGS + title;
		bytes = rcore_heap_bytes(heap, node);
		id = rcore_heap_snapshot_id(node);
	} else if (node > heap->node_count) {
		name = owner_name(writer, &writer->walk->owners[node - heap->node_count]);
	}
	begin_row(writer);
	fprintf(writer->out, "%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",0,0", type,
		name, id, bytes, end - first);
}

/* Elements and values have an index, all others a name. */
static enum edge_type type_of(enum rcore_edge_kind kind)
{
	switch (kind) {
	case RCORE_EDGE_ELEMENT:
	case RCORE_EDGE_VALUE:
		return ELEMENT;
	case RCORE_EDGE_IVAR:
	case RCORE_EDGE_CONSTANT:
	case RCORE_EDGE_CVAR:
	case RCORE_EDGE_METHOD:
	case RCORE_EDGE_FIBER_LOCAL:
	case RCORE_EDGE_LOCAL:
		return PROPERTY;
	default:
		return INTERNAL;
	}
}

static void put_edge(struct writer *writer, enum edge_type type, uint64_t name, uint32_t target)
{
	begin_row(writer);
	fprintf(writer->out, "%d,%" PRIu64 ",%" PRIu64, type, name,
		(uint64_t)writer->walk->number[target] * NODE_FIELDS);
}

static void put_edges(struct writer *writer, uint32_t node)
{
	const struct rcore_heap *heap = writer->export->heap;
	const uint32_t *targets;
	uint32_t first, end;
	rcore_heap_walk_edges(writer->walk, node, &targets, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		if (!is_slot(writer, node)) {
			put_edge(writer, ELEMENT, i - first, targets[i]);
			continue;
		}
		uint32_t label = heap->label[i];
		enum edge_type type = type_of(rcore_edge_kind(label));
		put_edge(writer, type,
			 type == ELEMENT ? rcore_edge_number(label)
					 : writer->steps[rcore_heap_step(heap, label)],
			 targets[i]);
	}
}

static uint64_t count_edges(const struct writer *writer)
{
	const uint32_t *targets;
	uint32_t first, end;
	uint64_t count = 0;
	for (uint32_t i = 0; i < writer->walk->count; i++) {
		rcore_heap_walk_edges(writer->walk, writer->walk->node[i], &targets, &first,
				      &end);
		count += end - first;
	}
	return count;
}

static void put_numbers(struct writer *writer, const char *key,
			void (*put)(struct writer *writer, uint32_t node))
{
	fprintf(writer->out, ",\n\"%s\":[", key);
	writer->has_before = false;
	for (uint32_t i = 0; i < writer->walk->count; i++)
		put(writer, writer->walk->node[i]);
	fputs("]", writer->out);
}

static void put_text(struct rcore_json *json, const char *text)
{
	if (text)
		rcore_json_put_text(json, NULL, text);
}

static void put_texts(struct writer *writer, struct rcore_json *json)
{
	const struct rcore_heap_export *export = writer->export;
	rcore_json_open(json, NULL, '[');
	put_text(json, "(root)");
	for (size_t i = 0; i < export->title_count; i++)
		put_text(json, export->titles[i]);
	for (size_t i = 0; i < export->step_count; i++)
		put_text(json, export->steps[i]);
	for (size_t i = 0; i < export->root_count; i++)
		put_text(json, export->roots[i]);
	rcore_json_close(json, ']');
}

/* Returns numbers for the texts that there are, from *next on. */
static uint32_t *number_texts(const char *const *texts, size_t count, uint32_t *next)
{
	uint32_t *numbers = rcore_calloc(count, sizeof(*numbers));
	for (size_t i = 0; numbers && i < count; i++)
		numbers[i] = texts[i] ? (*next)++ : 0;
	return numbers;
}

static void put_all(struct writer *writer, struct rcore_json *json)
{
	fprintf(writer->out,
		"{\"snapshot\":{\"meta\":%s,\"node_count\":%" PRIu32 ",\"edge_count\":%" PRIu64
		",\"trace_function_count\":0}",
		meta, writer->walk->count, count_edges(writer));
	put_numbers(writer, "nodes", put_node);
	put_numbers(writer, "edges", put_edges);
	fputs(",\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n"
	      "\"locations\":[],\n\"strings\":",
	      writer->out);
	put_texts(writer, json);
	fputs("}\n", writer->out);
}

struct rcore_error *rcore_report_heap_snapshot(const struct rcore_heap_export *export,
					       const struct rcore_heap_walk *walk, FILE *out)
{
	struct rcore_json json = {.out = out};
	uint32_t next = OWN_STRINGS + export->title_count;
	struct writer writer = {.export = export, .walk = walk, .out = out};
	writer.steps = number_texts(export->steps, export->step_count, &next);
	writer.roots = number_texts(export->roots, export->root_count, &next);
	json.no_memory = !writer.steps || !writer.roots;
	if (!json.no_memory)
		put_all(&writer, &json);
	free(writer.steps);
	free(writer.roots);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
